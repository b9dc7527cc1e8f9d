import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hmacOf, NOW_S, type Sender, senders } from "./fixtures.ts";
import { encodeSignature } from "./schemes/signature-encoding.ts";

const anyBody = fc.uint8Array({ maxLength: 200 });
/** Where, and how: never zero, so the byte is another one afterwards. */
const change = fc.record({ at: fc.nat(), xor: fc.integer({ min: 1, max: 255 }) });

function changed(bytes: Uint8Array, { at, xor }: { at: number; xor: number }): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const index = at % copy.length;
  copy[index] = (copy[index] as number) ^ xor;
  return copy;
}

/** The headers with another digest in the place of theirs. */
function withDigest(
  one: Sender,
  headers: Record<string, string>,
  digest: Uint8Array,
): Record<string, string> {
  const { header, encoding } = hmacOf(one.provider).signature;
  const value = headers[header] as string;
  const spelled = /[0-9a-f]{64}$|[A-Za-z0-9+/]{43}=$/.exec(value)?.[0] as string;
  return { ...headers, [header]: value.replace(spelled, () => encodeSignature(digest, encoding)) };
}

describe.each(senders.map((one) => [one.provider.name, one] as const))("%s", (_, one) => {
  it("accepts any bytes as they were signed", () => {
    fc.assert(
      fc.property(anyBody, (body) => {
        expect(one.verify(one.sign(body), body)).toMatchObject({ ok: true });
      }),
    );
  });

  it("refuses any one changed byte of the body", () => {
    fc.assert(
      fc.property(anyBody, change, (body, how) => {
        fc.pre(body.length > 0);
        expect(one.verify(one.sign(body), changed(body, how))).toEqual({
          ok: false,
          reason: "wrong_signature",
        });
      }),
      { numRuns: 300 },
    );
  });

  it("refuses a byte more and a byte less", () => {
    fc.assert(
      fc.property(anyBody, fc.nat(), fc.nat(255), (body, place, byte) => {
        const headers = one.sign(body);
        const at = place % (body.length + 1);
        const longer = Uint8Array.from([...body.subarray(0, at), byte, ...body.subarray(at)]);
        expect(one.verify(headers, longer)).toEqual({ ok: false, reason: "wrong_signature" });
        if (at === body.length) return;
        const shorter = Uint8Array.from([...body.subarray(0, at), ...body.subarray(at + 1)]);
        expect(one.verify(headers, shorter)).toEqual({ ok: false, reason: "wrong_signature" });
      }),
    );
  });

  it("refuses any one changed byte of the signature", () => {
    fc.assert(
      fc.property(anyBody, change, (body, how) => {
        const headers = one.sign(body);
        const result = one.verify(headers, body);
        if (!result.ok) throw new Error(result.reason);
        // Put back as it was it fits: what is changed below is the signature and nothing beside it.
        expect(withDigest(one, headers, result.signature)).toEqual(headers);
        const forged = withDigest(one, headers, changed(result.signature, how));
        expect(one.verify(forged, body)).toEqual({ ok: false, reason: "wrong_signature" });
      }),
      { numRuns: 300 },
    );
  });

  it("refuses every shorter beginning of the signature", () => {
    const body = Uint8Array.of(1, 2, 3);
    const headers = one.sign(body);
    const result = one.verify(headers, body);
    if (!result.ok) throw new Error(result.reason);
    for (let length = 0; length < result.signature.length; length++) {
      const forged = withDigest(one, headers, result.signature.subarray(0, length));
      expect(one.verify(forged, body), `${length} bytes`).toMatchObject({ ok: false });
    }
  });
});

const timed = senders.filter((one) => hmacOf(one.provider).timestamp);

describe.each(timed.map((one) => [one.provider.name, one] as const))("%s, which signs a time", (_, one) => {
  it("refuses any other timestamp inside the window", () => {
    const otherS = fc.integer({ min: -300, max: 300 }).filter((seconds) => seconds !== 0);
    fc.assert(
      fc.property(anyBody, otherS, (body, seconds) => {
        const headers = Object.fromEntries(
          Object.entries(one.sign(body)).map(([name, value]) => [
            name,
            value.replace(String(NOW_S), String(NOW_S + seconds)),
          ]),
        );
        expect(headers).not.toEqual(one.sign(body));
        expect(one.verify(headers, body)).toEqual({ ok: false, reason: "wrong_signature" });
      }),
    );
  });
});

describe("standard-webhooks, which signs an id", () => {
  it("refuses any one changed character of it", () => {
    const one = senders.find(({ provider }) => provider.name === "standard-webhooks") as Sender;
    const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/);
    const character = fc.stringMatching(/^[!-~]$/);
    fc.assert(
      fc.property(anyBody, id, fc.nat(), character, (body, text, place, other) => {
        const at = place % text.length;
        fc.pre(text[at] !== other);
        const headers = one.sign(body, { headers: { "webhook-id": text } });
        expect(one.verify(headers, body)).toMatchObject({ ok: true, eventId: text });
        const forged = text.slice(0, at) + other + text.slice(at + 1);
        expect(one.verify({ ...headers, "webhook-id": forged }, body)).toMatchObject({ ok: false });
      }),
      { numRuns: 300 },
    );
  });
});
