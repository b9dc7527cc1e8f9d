import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eventKey, type Identity, signatureBodyIdentity } from "./event-key.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** Any UTF-16 text, lone surrogates included: `JSON.parse` makes those from a sender's escapes. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
  .map((units) => String.fromCharCode(...units));
/** Texts made of what a key might be joined or quoted with. */
const delimiters = fc
  .array(
    fc.constantFrom(
      '"',
      ",",
      "[",
      "]",
      "\\",
      ":",
      ".",
      " ",
      "\0",
      "provider",
      "signature+body",
      "a",
      "\ud800",
    ),
    {
      maxLength: 6,
    },
  )
  .map((parts) => parts.join(""));
const text = fc.oneof(anyText, delimiters);
const identity: fc.Arbitrary<Identity> = fc.record({
  kind: fc.constantFrom("provider", "signature+body"),
  value: text,
});

describe("eventKey", () => {
  it("is never the same for two different sources, kinds or values", () => {
    fc.assert(
      fc.property(text, identity, text, identity, (sourceA, a, sourceB, b) => {
        fc.pre(sourceA !== sourceB || a.kind !== b.kind || a.value !== b.value);
        expect(eventKey(sourceA, a)).not.toBe(eventKey(sourceB, b));
      }),
      { numRuns: 2_000 },
    );
  });

  it("moves with the border between source and value", () => {
    const identityOf = (value: string): Identity => ({ kind: "provider", value });
    expect(eventKey("ab", identityOf("c"))).not.toBe(eventKey("a", identityOf("bc")));
    expect(eventKey('a","provider","b', identityOf("c"))).not.toBe(
      eventKey("a", identityOf('b","provider","c')),
    );
  });

  it("tells lone surrogates apart, which UTF-8 alone would not", () => {
    const of = (value: string) => eventKey("a", { kind: "provider", value });
    expect(of("\ud800")).not.toBe(of("\ud801"));
    expect(of("\ud800")).not.toBe(of("\ufffd"));
  });

  it("keeps one kind of identity from imitating the other", () => {
    const { value } = signatureBodyIdentity(bytes("signature"), bytes("body"));
    expect(eventKey("a", { kind: "provider", value })).not.toBe(
      eventKey("a", { kind: "signature+body", value }),
    );
  });

  it("is a sha256 in hex and stays what it is: a change would run every event of the last 7 days again", () => {
    expect(eventKey("stripe", { kind: "provider", value: "evt_1" })).toBe(
      "5e6712dffac3385d85ff6ffe41d45b65591f48f8eb6c0cb123e6b76a0f10ce8f",
    );
  });
});

describe("signatureBodyIdentity", () => {
  it("gives another key to another body under the same signature", () => {
    const signature = bytes("a signature of 32 bytes, made up");
    const key = (body: string) => eventKey("a", signatureBodyIdentity(signature, bytes(body)));
    expect(key('{"a":1}')).not.toBe(key('{"a":2}'));
    expect(key('{"a":1}')).toBe(key('{"a":1}'));
  });

  it("gives another key to another signature over the same body", () => {
    const body = bytes("{}");
    expect(signatureBodyIdentity(Buffer.alloc(32, 1), body)).not.toEqual(
      signatureBodyIdentity(Buffer.alloc(32, 2), body),
    );
  });

  it("takes the signature's bytes, so the case of its hex makes no difference", () => {
    const hex = "ab".repeat(32);
    const of = (spelling: string) => signatureBodyIdentity(Buffer.from(spelling, "hex"), bytes("{}"));
    expect(of(hex.toUpperCase())).toEqual(of(hex));
  });

  it("is sha256(signature + payload)", () => {
    // printf 'sigbody' | sha256sum
    expect(signatureBodyIdentity(bytes("sig"), bytes("body")).value).toBe(
      "0c59b997fe070413672b21fa8e02e47b0b56736492559e23a3f05e68068424f8",
    );
  });
});
