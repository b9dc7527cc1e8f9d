import { sign as octokitSign, verify as octokitVerify } from "@octokit/webhooks-methods";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { Stripe } from "stripe";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { githubSender, NOW_S, standardWebhooksSender, stripeSender, utf8 } from "./fixtures.ts";

/** JSON texts with whatever Unicode there is, as the senders' SDKs take them. */
const payload = fc
  .record({ id: fc.string({ unit: "binary" }), type: fc.string(), data: fc.jsonValue() })
  .map((value) => JSON.stringify(value, null, 2));

describe("stripe's SDK", () => {
  const { webhooks } = new Stripe("sk_test_made_up");
  const { secret } = stripeSender;

  it("signs what is accepted here", () => {
    fc.assert(
      fc.property(payload, (body) => {
        const header = webhooks.generateTestHeaderString({ payload: body, secret, timestamp: NOW_S });
        expect(stripeSender.verify({ "Stripe-Signature": header }, utf8(body))).toMatchObject({ ok: true });
      }),
    );
  });

  it("accepts what is signed here", () => {
    fc.assert(
      fc.property(payload, (body) => {
        const header = stripeSender.sign(utf8(body))["stripe-signature"] as string;
        const event = webhooks.constructEvent(body, header, secret, 300, undefined, NOW_S * 1000);
        expect(event).toEqual(JSON.parse(body));
      }),
    );
  });

  it("refuses what is refused here: another body, another secret, a signature of yesterday", () => {
    const body = '{"id":"evt_1"}';
    const header = stripeSender.sign(utf8(body))["stripe-signature"] as string;
    const construct = (text: string, key: string, nowS: number) => () =>
      webhooks.constructEvent(text, header, key, 300, undefined, nowS * 1000);
    expect(construct(body, secret, NOW_S)).not.toThrow();
    expect(construct('{"id":"evt_2"}', secret, NOW_S)).toThrow();
    expect(construct(body, "whsec_another_made_up", NOW_S)).toThrow();
    expect(construct(body, secret, NOW_S + 86_400)).toThrow();
  });
});

describe("GitHub's SDK", () => {
  const { secret } = githubSender;

  it("signs what is accepted here", async () => {
    await fc.assert(
      fc.asyncProperty(payload, async (body) => {
        const headers = { "X-Hub-Signature-256": await octokitSign(secret, body) };
        expect(githubSender.verify(headers, utf8(body))).toMatchObject({ ok: true });
      }),
    );
  });

  it("accepts what is signed here, and nothing else", async () => {
    await fc.assert(
      fc.asyncProperty(payload, async (body) => {
        const signature = githubSender.sign(utf8(body))["x-hub-signature-256"] as string;
        expect(await octokitVerify(secret, body, signature)).toBe(true);
        expect(await octokitVerify(secret, `${body} `, signature)).toBe(false);
      }),
    );
  });
});

describe("Standard Webhooks' SDK", () => {
  // It reads the clock itself.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"], now: NOW_S * 1000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const sdk = new Webhook(standardWebhooksSender.secret);
  const id = "msg_made_up_2";

  it("signs what is accepted here", () => {
    fc.assert(
      fc.property(payload, (body) => {
        const headers = {
          "webhook-id": id,
          "webhook-timestamp": String(NOW_S),
          "webhook-signature": sdk.sign(id, new Date(NOW_S * 1000), body),
        };
        expect(standardWebhooksSender.verify(headers, utf8(body))).toMatchObject({ ok: true, eventId: id });
      }),
    );
  });

  it("accepts what is signed here, and nothing else", () => {
    fc.assert(
      fc.property(payload, (body) => {
        const headers = standardWebhooksSender.sign(utf8(body), { headers: { "webhook-id": id } });
        expect(sdk.verify(body, headers)).toEqual(JSON.parse(body));
        expect(() => sdk.verify(`${body} `, headers)).toThrow();
        expect(() => sdk.verify(body, { ...headers, "webhook-id": "msg_another" })).toThrow();
      }),
    );
  });
});
