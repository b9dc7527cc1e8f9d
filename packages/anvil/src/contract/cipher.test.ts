import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCipher, keyIdOf, type SealContext, sealedKeyId } from "./cipher.ts";
import { decodeBody, type Envelope, encryptBody, readEnvelope } from "./envelope.ts";

const key = (seed: number) => Uint8Array.from({ length: 32 }, (_, at) => (seed * 31 + at * 7) % 256);
const CONTEXT: SealContext = ["body", 1, "default", "k"];
const utf8 = (text: string) => new TextEncoder().encode(text);

describe("a cipher", () => {
  it("opens what it sealed, whatever the bytes", () => {
    const cipher = createCipher(key(1), []);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(new Uint8Array(cipher.open(cipher.seal(bytes, CONTEXT), CONTEXT))).toEqual(bytes);
      }),
    );
  });

  it("never seals the same bytes alike, and shows the key's id and none of the bytes", () => {
    const cipher = createCipher(key(1), []);
    const sealed = Array.from({ length: 500 }, () => cipher.seal(utf8("the body"), CONTEXT));
    expect(new Set(sealed.map((text) => text.split(".")[1])).size).toBe(500);
    for (const text of sealed) {
      expect(text).toMatch(new RegExp(`^${keyIdOf(key(1))}\\.[\\w-]{16}\\.[\\w-]{32}$`));
      expect(sealedKeyId(text)).toBe(cipher.keyId);
    }
  });

  it("opens with whichever key fits, and seals with the current one", () => {
    const old = createCipher(key(1), []);
    const rotated = createCipher(key(2), [key(1), key(3)]);
    expect(rotated.keyIds).toEqual([key(2), key(1), key(3)].map(keyIdOf));
    expect(rotated.open(old.seal(utf8("old"), CONTEXT), CONTEXT).toString()).toBe("old");
    expect(sealedKeyId(rotated.seal(utf8("new"), CONTEXT))).toBe(keyIdOf(key(2)));
    expect(keyIdOf(key(2))).toMatch(/^[0-9a-f]{8}$/);
  });

  it("reads on with the previous keys alone, and seals nothing more", () => {
    const off = createCipher(undefined, [key(1)]);
    expect(off.keyId).toBeUndefined();
    const sealed = createCipher(key(1), []).seal(utf8("old"), CONTEXT);
    expect(off.open(sealed, CONTEXT).toString()).toBe("old");
    expect(() => off.seal(utf8("new"), CONTEXT)).toThrow(TypeError);
  });

  it("names a key that it doesn't have, and what to do", () => {
    const sealed = createCipher(key(1), []).seal(utf8("the body"), CONTEXT);
    expect(() => createCipher(key(2), []).open(sealed, CONTEXT)).toThrow(
      `unreadable job: it is encrypted with key ${keyIdOf(key(1))}, which is not here. Set that key as`,
    );
  });

  it("opens nothing that was changed anywhere, cut, lengthened or moved", () => {
    const cipher = createCipher(key(1), [key(2)]);
    const sealed = cipher.seal(utf8("the body"), CONTEXT);
    const [id = "", iv = "", text = ""] = sealed.split(".");
    const flipped = (base64url: string, at: number) => {
      const bytes = Buffer.from(base64url, "base64url");
      bytes[at] = (bytes[at] as number) ^ 1;
      return bytes.toString("base64url");
    };
    const changed = [
      ...Array.from({ length: 24 }, (_, at) => [id, iv, flipped(text, at)].join(".")),
      ...Array.from({ length: 12 }, (_, at) => [id, flipped(iv, at), text].join(".")),
      [id, iv, text.slice(0, -4)].join("."),
      [id, iv, text.slice(0, 22)].join("."),
      [id, iv, `${text}AAAA`].join("."),
      [keyIdOf(key(2)), iv, text].join("."),
    ];
    for (const one of changed) {
      expect(() => cipher.open(one, CONTEXT), one).toThrow(
        expect.objectContaining({
          code: "unreadable_job",
          message: expect.stringContaining("changed, moved or damaged"),
        }),
      );
    }
    for (const elsewhere of [
      ["body", 1, "default", "l"],
      ["body", 1, "stripe", "k"],
      ["body", 2, "default", "k"],
      ["step", 1, "default", "k"],
      ["body", "1", "default", "k"],
      ["body", 1, "default"],
    ] satisfies SealContext[]) {
      expect(() => cipher.open(sealed, elsewhere), String(elsewhere)).toThrow("moved");
    }
  });

  it.each(["", ".", "..", "a.b.c", "0123abcd.short.AAAA", "plain text", '{"value":1}'])(
    "takes %j for damaged, not for text",
    (text) => {
      expect(sealedKeyId(text)).toBeUndefined();
      expect(() => createCipher(key(1), []).open(text, CONTEXT)).toThrow("unreadable job: ");
    },
  );
});

describe("an encrypted body", () => {
  const of = { v: 1, source: "default", key: "k" } as const;
  const cipher = createCipher(key(1), []);
  const envelope = (body: string): Envelope => ({
    ...of,
    receivedAt: 1,
    headers: {},
    ...encryptBody(utf8(body), of, cipher),
  });

  it("is read through JSON, byte for byte", () => {
    const stored = readEnvelope(JSON.parse(JSON.stringify(envelope("é😀"))));
    expect(stored.encoding).toBe("aes-256-gcm");
    expect(decodeBody(stored, cipher)).toEqual(utf8("é😀"));
  });

  it("can't be read in another event's envelope", () => {
    for (const other of [{ key: "other" }, { source: "other" }]) {
      expect(() => decodeBody({ ...envelope("{}"), ...other }, cipher)).toThrow("moved");
    }
  });

  it("is unreadable without any key, by its name", () => {
    expect(() => decodeBody(envelope("{}"))).toThrow(`encrypted with key ${cipher.keyId}, which`);
    expect(() => decodeBody({ ...envelope("{}"), body: "damaged" })).toThrow("encrypted with key unknown");
  });

  it("in a form of tomorrow is unreadable today, never a crash", () => {
    const tomorrow = { ...envelope("{}"), encoding: "aes-512-xyz" };
    expect(() => readEnvelope(tomorrow)).toThrow(expect.objectContaining({ code: "unreadable_job" }));
  });
});
