import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeBody, type Envelope, encodeBody, readEnvelope } from "./envelope.ts";
import { AnvilError } from "./errors.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

/** Through JSON and back, as the queue stores it. */
function stored(bytes: Uint8Array): { decoded: Uint8Array; encoding: string; body: string } {
  const kept = JSON.parse(JSON.stringify(encodeBody(bytes))) as Pick<Envelope, "body" | "encoding">;
  return { decoded: decodeBody({ v: 1, source: "default", key: "k", ...kept }), ...kept };
}

describe("encodeBody and decodeBody", () => {
  it("stores a large body of control characters in base64, which is smaller than its JSON", () => {
    const bytes = new Uint8Array(100_000).fill(1);
    const { decoded, encoding, body } = stored(bytes);
    expect(encoding).toBe("base64");
    expect(body.length).toBeLessThan(140_000);
    expect(Buffer.from(decoded).equals(bytes)).toBe(true);
    expect(stored(utf8(JSON.stringify({ text: '"quoted"'.repeat(10_000) }))).encoding).toBe("utf8");
  });

  it("give any bytes back, through JSON, however the one before ended", () => {
    // Two in a row: a decoder that keeps state after a refusal would spoil the second.
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (first, second) => {
        expect(stored(first).decoded).toEqual(first);
        expect(stored(second).decoded).toEqual(second);
      }),
      { numRuns: 1_000 },
    );
  });

  it("give any text back as text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const { decoded, encoding, body } = stored(utf8(text));
        expect(decoded).toEqual(utf8(text));
        expect({ encoding, body }).toEqual({ encoding: "utf8", body: text });
      }),
    );
  });

  it.each<[string, Uint8Array, "utf8" | "base64"]>([
    ["ff fe 00 80", Uint8Array.of(0xff, 0xfe, 0x00, 0x80), "base64"],
    ["a BOM before text", Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d), "utf8"],
    ["two BOMs", Uint8Array.of(0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf), "utf8"],
    ["CRLF at the end", utf8('{\r\n  "id": 1\r\n}\r\n'), "utf8"],
    ["white space around", utf8("\n{} \t "), "utf8"],
    ["U+2028 and U+2029", utf8('{"a":"\u2028\u2029"}'), "utf8"],
    ["an emoji and a combining sequence", utf8("😀 e\u0301 עברית"), "utf8"],
    ["the escape of a lone surrogate", utf8('{"a":"\\ud800"}'), "utf8"],
    ["U+FFFD as sent", utf8("\ufffd"), "utf8"],
    ["NUL", utf8("\0"), "utf8"],
    ["an empty body", new Uint8Array(0), "utf8"],
    ["a lone surrogate's own bytes", Uint8Array.of(0xed, 0xa0, 0x80), "base64"],
    ["an overlong slash", Uint8Array.of(0xc0, 0xaf), "base64"],
    ["a character cut short", Uint8Array.of(0x7b, 0xf0, 0x9f, 0x98), "base64"],
    ["a byte above 7F (H-03)", Uint8Array.of(0xc3, 0xa9, 0x80), "base64"],
  ])("keep %s byte for byte", (_, bytes, expected) => {
    const { decoded, encoding } = stored(bytes);
    expect(Buffer.from(decoded).toString("hex")).toBe(Buffer.from(bytes).toString("hex"));
    expect(encoding).toBe(expected);
  });

  it("take a view into a larger buffer for what it shows alone", () => {
    const whole = Uint8Array.of(1, 0xff, 0xfe, 2);
    expect(stored(whole.subarray(1, 3)).decoded).toEqual(Uint8Array.of(0xff, 0xfe));
  });

  it("give bytes that share no memory with anything else", () => {
    const { decoded } = stored(utf8("small bodies come from Buffer's pool"));
    expect(decoded.buffer.byteLength).toBe(decoded.byteLength);
  });
});

describe("readEnvelope", () => {
  const sound: Envelope = {
    v: 1,
    source: "default",
    key: "0".repeat(64),
    eventId: "evt_1",
    type: "invoice.paid",
    receivedAt: 1_760_000_000_000,
    headers: { "content-type": "application/json" },
    body: "{}",
    encoding: "utf8",
  };

  it("takes a sound envelope as it is, and fields of later versions with it", () => {
    const later = { ...sound, failureContext: { attempts: 5 } };
    expect(readEnvelope(later)).toBe(later);
  });

  it("takes an envelope without event id and type", () => {
    const { eventId: _, type: __, ...plain } = sound;
    expect(readEnvelope(plain)).toEqual(plain);
  });

  const refusal = (data: unknown): AnvilError => {
    try {
      readEnvelope(data);
    } catch (error) {
      if (error instanceof AnvilError) return error;
      throw error;
    }
    throw new Error(`accepted ${JSON.stringify(data)}`);
  };

  it.each([undefined, null, "", "{}", 1, true, [], {}, [sound], JSON.stringify(sound)])(
    "refuses %j with code unreadable_job",
    (data) => {
      const error = refusal(data);
      expect(error.code).toBe("unreadable_job");
      expect(error.message).toMatch(/^unreadable job: /);
    },
  );

  it.each([0, 2, -1, 1.5, NaN, "1", null, undefined, [1], { v: 1 }, true])("refuses version %j", (v) => {
    const error = refusal({ ...sound, v });
    expect(error.code).toBe("unreadable_job");
    expect(error.message).toContain("this worker reads version 1");
  });

  it("says which version it met, at a bounded length", () => {
    expect(refusal({ ...sound, v: 2 }).message).toContain("has version 2,");
    expect(refusal({ ...sound, v: "x".repeat(10_000) }).message.length).toBeLessThan(250);
  });

  const others = [undefined, null, 1, true, "", "text", [], ["text"], {}, { a: 1 }, { a: null }];
  const kindsTaken: Record<string, (value: unknown) => boolean> = {
    source: (value) => typeof value === "string",
    key: (value) => typeof value === "string",
    eventId: (value) => typeof value === "string" || value === undefined,
    type: (value) => typeof value === "string" || value === undefined,
    receivedAt: (value) => typeof value === "number",
    headers: (value) => JSON.stringify(value) === "{}",
    body: (value) => typeof value === "string",
    encoding: () => false,
  };
  it.each(
    Object.entries(kindsTaken).flatMap(([field, taken]) =>
      others.filter((value) => !taken(value)).map((value) => ({ field, value })),
    ),
  )("refuses $field that is $value", ({ field, value }) => {
    const error = refusal({ ...sound, [field]: value });
    expect(error.code).toBe("unreadable_job");
    expect(error.message).toContain("lacks a field or has one of another kind");
  });

  it("never repeats what the envelope holds", () => {
    const error = refusal({ ...sound, encoding: "latin1", body: "a-payload-made-up" });
    expect(error.message).not.toContain("a-payload-made-up");
    expect(error.message).not.toContain("latin1");
  });

  it("throws nothing but AnvilError, whatever was stored", () => {
    fc.assert(
      fc.property(fc.anything(), (data) => {
        expect(refusal(data).code).toBe("unreadable_job");
      }),
    );
  });
});
