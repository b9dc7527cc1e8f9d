import { describe, expect, it } from "vitest";
import {
  githubSender,
  hmacOf,
  NOW_S,
  sender,
  senders,
  standardWebhooksSender,
  stripeSender,
  utf8,
} from "./fixtures.ts";
import type { Provider } from "./provider.ts";
import { standardWebhooks } from "./providers/standard-webhooks.ts";
import { signDelivery, signRequest } from "./sign.ts";
import { verifyRequest } from "./verify.ts";

const body = utf8("{}");

describe("signDelivery", () => {
  it("writes each provider's header as the provider does", () => {
    const shapes = senders.map((one) => one.sign(body)[hmacOf(one.provider).signature.header]);
    expect(shapes).toEqual([
      expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
      expect.stringMatching(new RegExp(`^t=${NOW_S},v1=[0-9a-f]{64}$`)),
      expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
      expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    ]);
  });

  it("returns the headers that it was given, and the timestamp where it is a header of its own", () => {
    expect(githubSender.sign(body)).toMatchObject({ "x-github-event": "push" });
    expect(standardWebhooksSender.sign(body)).toMatchObject({
      "webhook-id": "msg_made_up_1",
      "webhook-timestamp": String(NOW_S),
    });
    expect(Object.keys(stripeSender.sign(body))).toEqual(["stripe-signature"]);
  });

  it("counts milliseconds where the provider does", () => {
    const row: Provider = {
      name: "made-up",
      scheme: {
        kind: "hmac",
        hash: "sha1",
        secret: "utf8",
        signature: { header: "x-sig", encoding: "hex", layout: { kind: "pairs", separator: ";", key: "s" } },
        timestamp: { from: { pair: "ts" }, unit: "ms", toleranceS: 60 },
        message: "{body}{timestamp}",
      },
      keepHeaders: [],
      docs: "",
    };
    const one = sender(row, "made-up-secret");
    const headers = one.sign(body);
    expect(headers["x-sig"]).toMatch(new RegExp(`^ts=${NOW_S}000;s=[0-9a-f]{40}$`));
    expect(one.verify(headers, body)).toMatchObject({ ok: true });
    expect(one.verify(headers, body, { nowS: NOW_S + 61 })).toMatchObject({ reason: "timestamp_too_old" });
  });

  it.each([
    ["s", "{field:auth.time}{field:auth.nonce}", String(NOW_S)],
    ["rfc3339", "{body}", new Date(NOW_S * 1000).toISOString()],
    ["ms", "{body}", NOW_S * 1000],
  ] as const)("puts a time in %s into the body, as it is signed by %s", async (unit, message, time) => {
    const row: Provider = {
      name: "made-up",
      scheme: {
        kind: "hmac",
        hash: "sha256",
        secret: "utf8",
        signature:
          message === "{body}"
            ? { header: "x-sig", encoding: "hex", layout: { kind: "single" } }
            : { field: "auth.signature", encoding: "hex" },
        timestamp: { from: { body: "auth.time" }, unit, toleranceS: 60 },
        message,
      },
      keepHeaders: [],
      docs: "",
    };
    const unsigned = { body: Buffer.from('{"auth":{"nonce":"n1"}}') };
    const signed = signRequest(row, unsigned, "made-up-secret", { nowMs: NOW_S * 1000 });
    expect(JSON.parse(Buffer.from(signed.body).toString()).auth).toMatchObject({ nonce: "n1", time });
    const verdict = (now: number) => verifyRequest(row, signed, { secrets: ["made-up-secret"], now });
    expect(await verdict(NOW_S * 1000)).toEqual({ ok: true });
    expect(await verdict((NOW_S + 61) * 1000)).toMatchObject({ reason: "timestamp_too_old" });
  });

  it("refuses a secret that isn't in the provider's form, without repeating it", () => {
    const sign = () => signDelivery(standardWebhooks, body, "not base64: made up!", { nowMs: 0 });
    expect(sign).toThrow(new TypeError("The secret isn't in the form that standard-webhooks uses"));
  });

  it("refuses to sign a header that is missing or would blur", () => {
    const sign = (headers: Record<string, string>) => () =>
      signDelivery(standardWebhooks, body, standardWebhooksSender.secret, { nowMs: 0, headers });
    expect(sign({})).toThrow("missing_signed_header");
    expect(sign({ "webhook-id": "a.b" })).toThrow("malformed_signed_header");
  });
});
