import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { utf8 } from "../fixtures.ts";
import type { Provider } from "../provider.ts";
import { providers } from "../providers/index.ts";
import { signRequest } from "../sign.ts";
import { verifyRequest } from "../verify.ts";
import { NOW_MS, senderOf } from "./fixtures.ts";

const { secret } = senderOf("adyen");
const row = providers.get("adyen") as Provider;
const wrong = { ok: false, reason: "wrong_signature" };
const malformed = { ok: false, reason: "malformed_signature" };
const missing = { ok: false, reason: "missing_signature" };

type Item = Record<string, unknown> & { additionalData?: Record<string, unknown> };
const item = (changes: Item = {}): Item => ({
  pspReference: "7914073381342284",
  originalReference: "",
  merchantAccountCode: "MadeUpMerchant",
  merchantReference: "order-1",
  amount: { value: 1130, currency: "EUR" },
  eventCode: "AUTHORISATION",
  success: "true",
  ...changes,
});
const bodyOf = (items: readonly Item[]) =>
  JSON.stringify({ notificationItems: items.map((each) => ({ NotificationRequestItem: each })) });
const signed = (...items: Item[]): Item[] => {
  const { body } = signRequest(row, { body: utf8(bodyOf(items)) }, secret, { nowMs: NOW_MS });
  const { notificationItems } = JSON.parse(new TextDecoder().decode(body)) as {
    notificationItems: { NotificationRequestItem: Item }[];
  };
  return notificationItems.map(({ NotificationRequestItem }) => NotificationRequestItem);
};
const judge = (body: string, headers: Record<string, string> = {}) =>
  verifyRequest("adyen", { headers, body }, { secrets: [secret], now: NOW_MS });
const one = (changes: Item, from: Item = item()) =>
  judge(bodyOf([{ ...(signed(from)[0] as Item), ...changes }]));

describe("a list of notifications", () => {
  const [first, second] = signed(item(), item({ pspReference: "8814073381342285" })) as [Item, Item];

  it("is accepted when every item is signed", async () => {
    expect(await judge(bodyOf([first, second]))).toMatchObject({ ok: true });
  });

  it("is refused when any item is forged, unsigned, or signed for another", async () => {
    const { additionalData: _, ...unsigned } = second;
    const { additionalData } = first;
    const cases: [Item, object][] = [
      [{ ...second, success: "false" }, wrong],
      [{ ...second, additionalData: additionalData as Record<string, unknown> }, wrong],
      [unsigned, missing],
      [{ ...second, additionalData: { hmacSignature: "" } }, missing],
      [{ ...second, additionalData: { hmacSignature: 7 } }, missing],
      [{ ...second, additionalData: { hmacSignature: "no base64!" } }, malformed],
    ];
    for (const [forged, verdict] of cases) {
      expect(await judge(bodyOf([first, forged]))).toEqual(verdict);
      expect(await judge(bodyOf([forged, first]))).toEqual(verdict);
    }
  });

  it.each([
    "",
    "{}",
    "[]",
    "null",
    '{"notificationItems":[]}',
    '{"notificationItems":[null]}',
    '{"notificationItems":{}}',
  ])("is none in %j", async (body) => {
    expect(await judge(body)).toEqual(missing);
  });
});

describe("an item", () => {
  it("may have colons in the merchant's own reference, and nowhere else, where they would move a border", async () => {
    expect(await one({}, item({ merchantReference: "a:b:c" }))).toMatchObject({ ok: true });
    const moved = [
      {
        pspReference: "7914073381342284:",
        originalReference: "MadeUpMerchant",
        merchantAccountCode: "order",
        merchantReference: "1",
      },
      { merchantAccountCode: "MadeUpMerchant:a", merchantReference: "b:c" },
      {
        merchantReference: "a:b:c:1130",
        amount: { value: "EUR", currency: "AUTHORISATION" },
        eventCode: "true",
        success: "",
      },
    ];
    for (const changes of moved) {
      expect(await one(changes, item({ merchantReference: "a:b:c" }))).toMatchObject({ ok: false });
    }
    expect(
      await one(
        { merchantAccountCode: "MadeUpMerchant:a", merchantReference: "b:c" },
        item({ merchantReference: "a:b:c" }),
      ),
    ).toEqual(malformed);
  });

  it('has texts, and so one identity: true is not "true"', async () => {
    for (const changes of [
      { success: true },
      { eventCode: ["AUTHORISATION"] },
      { pspReference: 7914073381342284 },
    ]) {
      expect(await one(changes), JSON.stringify(changes)).toEqual(malformed);
    }
    for (const value of [1130.5, 1e21, true, {}, [1130]]) {
      expect(await one({ amount: { value, currency: "EUR" } }), JSON.stringify(value)).toMatchObject({
        ok: false,
      });
    }
  });
});

describe("a signature in the header", () => {
  const body = '{"data":{"id":"made-up"},"type":"balancePlatform.made.up"}';
  const hmac = (text: string) =>
    createHmac("sha256", Buffer.from(secret, "hex")).update(text).digest("base64");

  it("is over the whole body", async () => {
    expect(await judge(body, { hmacsignature: hmac(body) })).toMatchObject({ ok: true });
    expect(await judge(`${body} `, { hmacsignature: hmac(body) })).toEqual(wrong);
  });

  it("can't be taken from an item, whose fields with colons would be the body", async () => {
    const [only] = signed(item()) as [Item];
    const text = "7914073381342284::MadeUpMerchant:order-1:1130:EUR:AUTHORISATION:true";
    expect(only.additionalData?.hmacSignature).toBe(hmac(text));
    expect(await judge(text, { hmacsignature: hmac(text) })).toEqual(wrong);
  });

  it("isn't made up for by items that are signed", async () => {
    expect(await judge(bodyOf(signed(item())), { hmacsignature: hmac("another") })).toEqual(wrong);
  });
});
