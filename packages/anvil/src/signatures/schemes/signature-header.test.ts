import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  hmacOf,
  NOW_S,
  senders,
  standardWebhooksSender,
  stripeSender,
  utf8,
  verifyDelivery,
} from "../fixtures.ts";
import { headerLookup } from "../headers.ts";
import type { HmacScheme, SignatureHeader } from "../provider.ts";
import { checkHead } from "../verify.ts";
import { readClaimedSignature } from "./signature-header.ts";

const body = utf8('{"id":"evt_1"}');

const semicolons: HmacScheme & { readonly signature: SignatureHeader } = {
  kind: "hmac",
  hash: "sha256",
  secret: "utf8",
  signature: { header: "x-sig", encoding: "hex", layout: { kind: "pairs", separator: ";", key: "h1" } },
  timestamp: { from: { pair: "ts" }, unit: "ms", toleranceS: 5 },
  message: "{timestamp}:{body}",
};
const schemes = [...senders.map(({ provider }) => hmacOf(provider)), semicolons];

/** What signature headers are made of, in any order. */
const pieces = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "t",
        "ts",
        "v1",
        "h1",
        "v0",
        "v1a",
        "sha256",
        "=",
        "==",
        ",",
        ";",
        " ",
        "\t",
        "\0",
        "\ufffd",
      ),
      fc.constantFrom(
        "__proto__",
        "constructor",
        "%00",
        "\r\n",
        "ab".repeat(32),
        "A".repeat(43),
        String(NOW_S),
      ),
      fc.string({ unit: "binary", maxLength: 8 }),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(""));

describe("readClaimedSignature", () => {
  it("never throws, and never claims an empty signature, whatever the header holds", () => {
    fc.assert(
      fc.property(fc.oneof(pieces, fc.string({ unit: "binary" })), (text) => {
        for (const scheme of schemes) {
          const claimed = readClaimedSignature(scheme, () => text);
          if (!claimed.ok) continue;
          expect(claimed.candidates.length).toBeGreaterThan(0);
          for (const candidate of claimed.candidates) expect(candidate.length).toBeGreaterThan(0);
          if (scheme.timestamp) expect(claimed.timestamp).toBeTruthy();
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("and never accepts one that nobody signed", () => {
    const keys = [utf8("a made-up key")];
    fc.assert(
      fc.property(pieces, (text) => {
        for (const { provider } of senders) {
          const delivery = { headers: { get: () => text }, body };
          expect(verifyDelivery(provider, delivery, keys, NOW_S * 1000).ok).toBe(false);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it("reads pairs apart by a semicolon, with milliseconds", () => {
    const lookup = headerLookup({ "X-Sig": `ts=${NOW_S}123;h1=${"ab".repeat(32)}` });
    expect(readClaimedSignature(semicolons, lookup)).toMatchObject({ ok: true, timestamp: `${NOW_S}123` });
    const head = { method: "POST", url: "", header: lookup };
    const schemes = [{ scheme: semicolons, keys: [utf8("a made-up key")] }];
    const skewed = (ms: number) => checkHead(schemes, head, NOW_S * 1000 + ms) === undefined;
    expect([skewed(5_999), skewed(6_000), skewed(-5_000), skewed(-5_001)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });
});

describe("the work for a hostile header is bounded", () => {
  const stripe = (count: number) => `t=${NOW_S}${`,v1=${"0".repeat(64)}`.repeat(count)}`;
  const versions = (count: number) => `v1,${Buffer.alloc(32).toString("base64")} `.repeat(count);

  it.each([33, 100, 5_000, 200_000])("%d signatures are refused unread", (count) => {
    const start = performance.now();
    const refusal = { ok: false, reason: "malformed_signature" };
    expect(stripeSender.verify({ "stripe-signature": stripe(count) }, body)).toEqual(refusal);
    const headers = { ...standardWebhooksSender.sign(body), "webhook-signature": versions(count) };
    expect(standardWebhooksSender.verify(headers, body)).toEqual(refusal);
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  it("a header of 8192 characters is read, a longer one is not", () => {
    const good = stripeSender.sign(body)["stripe-signature"] as string;
    const padded = (length: number) => `${good},x=${"y".repeat(length - good.length - 3)}`;
    expect(stripeSender.verify({ "stripe-signature": padded(8_192) }, body)).toMatchObject({ ok: true });
    expect(stripeSender.verify({ "stripe-signature": padded(8_193) }, body)).toMatchObject({ ok: false });
  });

  it("32 signatures, the last of them good, cost one digest for each key", () => {
    const signed = standardWebhooksSender.sign(body);
    const headers = { ...signed, "webhook-signature": `${versions(31)}${signed["webhook-signature"]}` };
    expect(standardWebhooksSender.verify(headers, body)).toMatchObject({ ok: true });

    const lookup = headerLookup({ ...headers, "webhook-signature": versions(32) });
    let digests = 0;
    // The id is read once for each message that is hashed.
    const counting = {
      get(name: string) {
        if (name === "webhook-id") digests++;
        return lookup(name) ?? null;
      },
    };
    const keys = [utf8("one made-up key"), utf8("another made-up key")];
    expect(
      verifyDelivery(standardWebhooksSender.provider, { headers: counting, body }, keys, NOW_S * 1000),
    ).toEqual({
      ok: false,
      reason: "wrong_signature",
    });
    expect(digests).toBe(keys.length);
  });
});
