import { generateKeyPairSync, sign as signBytes } from "node:crypto";
import { Paddle } from "@paddle/paddle-node-sdk";
import "@shopify/shopify-api/adapters/node";
import { ApiVersion, shopifyApi } from "@shopify/shopify-api";
import { getHmac } from "@shopify/shopify-api/test-helpers";
import { isValidSlackRequest } from "@slack/bolt/dist/receivers/verify-request.js";
import { verifyKey } from "discord-interactions";
import fc from "fast-check";
import { Webhook as SvixWebhook } from "svix/dist/webhook.js";
import {
  getExpectedBodyHash,
  getExpectedTwilioSignature,
  HMAC_SHA256,
  validateRequest,
  validateRequestWithBody,
} from "twilio/lib/webhooks/webhooks.js";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NOW_S, utf8 } from "./fixtures.ts";
import type { Provider } from "./provider.ts";
import { discord } from "./providers/discord.ts";
import { paddle } from "./providers/paddle.ts";
import { shopify } from "./providers/shopify.ts";
import { slack } from "./providers/slack.ts";
import { svix } from "./providers/svix.ts";
import { twilio } from "./providers/twilio.ts";
import { signRequest } from "./sign.ts";
import { verifyRequest } from "./verify.ts";

const now = NOW_S * 1000;
const wrong = { ok: false, reason: "wrong_signature" };
const runs = { numRuns: 50 };
/** JSON texts with whatever Unicode there is, as the senders' SDKs take them. */
const payload = fc
  .record({ id: fc.string({ unit: "binary" }), type: fc.string(), data: fc.jsonValue() })
  .map((value) => JSON.stringify(value, null, 2));

/** Somebody who signs for a provider here, and the receiver here, over texts. */
function here(provider: Provider, secret: string) {
  return {
    sign: (body: string, headers: Record<string, string> = {}, url = "") =>
      signRequest(provider, { url, headers, body: utf8(body) }, secret, { nowMs: now }),
    verify: (headers: Record<string, string>, body: string, url = "") =>
      verifyRequest(provider, { url, headers, body }, { secrets: [secret], now }),
  };
}

// Some of the SDKs read the clock themselves.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("Svix's SDK", () => {
  const secret = `whsec_${Buffer.from("made-up-key-of-svix-24bytes").toString("base64")}`;
  const sdk = new SvixWebhook(secret);
  const ours = here(svix, secret);
  const id = "msg_made_up_3";

  it("signs what is accepted here", async () => {
    await fc.assert(
      fc.asyncProperty(payload, async (body) => {
        const headers = {
          "Svix-Id": id,
          "Svix-Timestamp": String(NOW_S),
          "Svix-Signature": sdk.sign(id, new Date(now), body),
        };
        expect(await ours.verify(headers, body)).toMatchObject({ ok: true, eventId: id });
        expect(await ours.verify(headers, `${body} `)).toEqual(wrong);
      }),
      runs,
    );
  });

  it("accepts what is signed here, and nothing else", () => {
    fc.assert(
      fc.property(payload, (body) => {
        const { headers } = ours.sign(body, { "svix-id": id });
        expect(sdk.verify(body, headers)).toEqual(JSON.parse(body));
        expect(() => sdk.verify(`${body} `, headers)).toThrow();
        expect(() => sdk.verify(body, { ...headers, "svix-id": "msg_another" })).toThrow();
      }),
      runs,
    );
  });

  it("takes a timestamp with garbage at its end for the number at its beginning; here that is none", async () => {
    const { headers } = ours.sign("{}", { "svix-id": id });
    const loose = { ...headers, "svix-timestamp": `${NOW_S}abc` };
    expect(sdk.verify("{}", loose)).toEqual({});
    expect(await ours.verify(loose, "{}")).toEqual({ ok: false, reason: "malformed_timestamp" });
  });
});

describe("Slack's SDK", () => {
  const signingSecret = "made-up-signing-secret-of-slack";
  const ours = here(slack, signingSecret);
  const sdkVerifies = (headers: Record<string, string>, body: string) =>
    isValidSlackRequest({
      signingSecret,
      body,
      headers: {
        "x-slack-signature": headers["x-slack-signature"] as string,
        "x-slack-request-timestamp": Number(headers["x-slack-request-timestamp"]),
      },
      nowMilliseconds: now,
    });

  it("accepts what is signed here, and nothing else", () => {
    fc.assert(
      fc.property(payload, (body) => {
        const { headers } = ours.sign(body);
        expect(sdkVerifies(headers, body)).toBe(true);
        expect(sdkVerifies(headers, `${body} `)).toBe(false);
        const later = { ...headers, "x-slack-request-timestamp": String(NOW_S + 1) };
        expect(sdkVerifies(later, body)).toBe(false);
      }),
      runs,
    );
  });

  it("agrees about the past edge, and accepts any future, which is refused here", async () => {
    const at = (seconds: number) =>
      signRequest(slack, { body: utf8("{}") }, signingSecret, { nowMs: now + seconds * 1000 }).headers;
    for (const [seconds, sdk, own] of [
      [-300, true, true],
      [-301, false, false],
      [300, true, true],
      [301, true, false],
      [86_400, true, false],
    ] as const) {
      expect(sdkVerifies(at(seconds), "{}"), `${seconds} s`).toBe(sdk);
      expect((await ours.verify(at(seconds), "{}")).ok, `${seconds} s`).toBe(own);
    }
  });

  it("takes what follows a second = for nothing; here it is garbage", async () => {
    const { headers } = ours.sign("{}");
    const loose = { ...headers, "x-slack-signature": `${headers["x-slack-signature"]}=garbage` };
    expect(sdkVerifies(loose, "{}")).toBe(true);
    expect(await ours.verify(loose, "{}")).toEqual({ ok: false, reason: "malformed_signature" });
  });
});

describe("Shopify's SDK", () => {
  const apiSecretKey = "made-up-client-secret-of-shopify";
  const { webhooks } = shopifyApi({
    apiKey: "made-up",
    apiSecretKey,
    hostName: "hooks.example",
    apiVersion: ApiVersion.July26,
    isEmbeddedApp: false,
    // It logs each refusal.
    logger: { log: () => {} },
  });
  const ours = here(shopify, apiSecretKey);
  const named = {
    "x-shopify-topic": "orders/create",
    "x-shopify-shop-domain": "made-up.myshopify.com",
    "x-shopify-api-version": "2026-07",
    "x-shopify-webhook-id": "b54557e4-made-up",
    "x-shopify-event-id": "98880550-made-up",
  };
  const unprefixed = (headers: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.replace("x-shopify", "shopify"), value]),
    );
  const sdkVerifies = async (headers: Record<string, string>, rawBody: string) => {
    // Node's own request and response are what its adapter reads.
    const rawRequest = { method: "POST", url: "/webhooks", headers, rawHeaders: [] };
    return (await webhooks.validate({ rawBody, rawRequest, rawResponse: {} })).valid;
  };

  it("signs what is accepted here, under the header's older and newer name", async () => {
    await fc.assert(
      fc.asyncProperty(payload, async (body) => {
        const hmac = getHmac(body, apiSecretKey);
        for (const name of ["X-Shopify-Hmac-Sha256", "shopify-hmac-sha256"]) {
          expect(await ours.verify({ ...named, [name]: hmac }, body)).toMatchObject({ ok: true });
          expect(await ours.verify({ ...named, [name]: hmac }, `${body} `)).toEqual(wrong);
        }
      }),
      runs,
    );
  });

  it("accepts what is signed here, and nothing else", async () => {
    await fc.assert(
      fc.asyncProperty(payload, async (body) => {
        const { headers } = ours.sign(body, named);
        for (const each of [headers, unprefixed(headers)]) {
          expect(await sdkVerifies(each, body)).toBe(true);
          expect(await sdkVerifies(each, `${body} `)).toBe(false);
        }
      }),
      runs,
    );
  });
});

describe("Twilio's SDK", () => {
  const authToken = "made-up-auth-token-of-twilio";
  const ours = here(twilio, authToken);
  const url = "https://hooks.example/hooks/twilio?foo=1&bar=%27";
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_]{0,10}$/);
  const text = fc.string({ unit: "grapheme", maxLength: 20 });
  const fields = fc.dictionary(name, fc.oneof(text, fc.array(text, { minLength: 2, maxLength: 3 })), {
    minKeys: 1,
    maxKeys: 5,
    noNullPrototype: true,
  });
  const encoded = (params: Record<string, string | string[]>) =>
    new URLSearchParams(
      Object.entries(params).flatMap(([key, value]) =>
        [value].flat().map((each): [string, string] => [key, each]),
      ),
    ).toString();

  it("signs forms that are accepted here, by the token and by a shared key", async () => {
    await fc.assert(
      fc.asyncProperty(fields, async (params) => {
        const body = encoded(params);
        const headers = { ...form, "X-Twilio-Signature": getExpectedTwilioSignature(authToken, url, params) };
        expect(await ours.verify(headers, body, url)).toMatchObject({ ok: true });
        expect(await ours.verify(headers, `${body}&x=1`, url)).toEqual(wrong);
        expect(await ours.verify(headers, body, `${url}&x=1`)).toEqual(wrong);

        const shared = {
          ...form,
          "X-Twilio-Signature": getExpectedTwilioSignature(authToken, url, params, HMAC_SHA256),
          "X-Twilio-Webhooks-Signature-Settings": "key=webhooks_sharedkey_made_up,algorithm=HMAC_SHA256",
        };
        expect(await ours.verify(shared, body, url)).toMatchObject({ ok: true });
        expect(await ours.verify(shared, `${body}&x=1`, url)).toEqual(wrong);
        const { "X-Twilio-Webhooks-Signature-Settings": _, ...unnamed } = shared;
        expect(await ours.verify(unnamed, body, url)).toEqual(wrong);
      }),
      runs,
    );
  });

  it("accepts forms that are signed here, and nothing else", () => {
    fc.assert(
      fc.property(fields, (params) => {
        const { headers } = ours.sign(encoded(params), form, url);
        const signature = headers["x-twilio-signature"] as string;
        expect(validateRequest(authToken, signature, url, params)).toBe(true);
        expect(validateRequest(authToken, signature, url, { ...params, x: "1" })).toBe(false);
        expect(validateRequest(authToken, signature, `${url}&x=1`, params)).toBe(false);
      }),
      runs,
    );
  });

  it("signs JSON that is accepted here, and accepts what is signed here", async () => {
    const json = { "content-type": "application/json" };
    await fc.assert(
      fc.asyncProperty(payload, async (body) => {
        const hashed = `${url}&bodySHA256=${getExpectedBodyHash(body)}`;
        const headers = { ...json, "X-Twilio-Signature": getExpectedTwilioSignature(authToken, hashed, {}) };
        expect(await ours.verify(headers, body, hashed)).toMatchObject({ ok: true });
        expect(await ours.verify(headers, `${body} `, hashed)).toEqual(wrong);

        const signed = ours.sign(body, json, url);
        const signature = signed.headers["x-twilio-signature"] as string;
        expect(signed.url).toBe(hashed);
        expect(validateRequestWithBody(authToken, signature, signed.url, body)).toBe(true);
        expect(validateRequestWithBody(authToken, signature, signed.url, `${body} `)).toBe(false);
      }),
      runs,
    );
  });

  it("reads the settings as they are read here", async () => {
    const settings: [string, boolean][] = [
      ["", true],
      ["key=made-up", true],
      ["algorithm=", true],
      ["key=made-up, algorithm = hmac_sha1 ", true],
      ["algorithm=HMAC_MD5", false],
      ["algorithm=HMAC_SHA256", false],
      ["algorithm=HMAC_MD5,algorithm=HMAC_SHA1", false],
    ];
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const { getSignatureAlgorithm } = await import("twilio/lib/webhooks/webhooks.js");
    for (const [value, accepted] of settings) {
      const { headers } = ours.sign("a=1", { ...form, "x-twilio-webhooks-signature-settings": value }, url);
      const signature = headers["x-twilio-signature"] as string;
      const algorithm = getSignatureAlgorithm(value);
      expect(validateRequest(authToken, signature, url, { a: "1" }, algorithm), value).toBe(accepted);
      expect((await ours.verify(headers, "a=1", url)).ok, value).toBe(accepted);
    }
    vi.restoreAllMocks();
  });

  it("tries the URL with and without a port; here it is the one that was configured", async () => {
    const ported = url.replace("hooks.example", "hooks.example:443");
    const { headers } = ours.sign("a=1", form, ported);
    const signature = headers["x-twilio-signature"] as string;
    expect(validateRequest(authToken, signature, url, { a: "1" })).toBe(true);
    expect(await ours.verify(headers, "a=1", url)).toEqual(wrong);
    expect(await ours.verify(headers, "a=1", ported)).toMatchObject({ ok: true });
  });
});

describe("Discord's SDK", () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const hex = Buffer.from(publicKey.export({ format: "jwk" }).x as string, "base64url").toString("hex");
  const ours = here(discord, hex);
  const signed = (body: string, timestamp = String(NOW_S)) => ({
    "x-signature-timestamp": timestamp,
    "x-signature-ed25519": signBytes(null, Buffer.from(timestamp + body), privateKey).toString("hex"),
  });
  const sdkVerifies = (headers: ReturnType<typeof signed>, body: string) =>
    verifyKey(body, headers["x-signature-ed25519"], headers["x-signature-timestamp"], hex);

  it("gives the same verdict on every delivery, right or changed", async () => {
    await fc.assert(
      fc.asyncProperty(payload, fc.nat(63), fc.integer({ min: 1, max: 255 }), async (body, at, xor) => {
        const headers = signed(body);
        const both = async (each: typeof headers, text: string) => [
          await sdkVerifies(each, text),
          (await ours.verify(each, text)).ok,
        ];
        expect(await both(headers, body)).toEqual([true, true]);
        expect(await both(headers, `${body} `)).toEqual([false, false]);
        expect(await both({ ...headers, "x-signature-timestamp": String(NOW_S + 1) }, body)).toEqual([
          false,
          false,
        ]);
        const bytes = Buffer.from(headers["x-signature-ed25519"], "hex");
        bytes[at] = (bytes[at] as number) ^ xor;
        expect(await both({ ...headers, "x-signature-ed25519": bytes.toString("hex") }, body)).toEqual([
          false,
          false,
        ]);
      }),
      runs,
    );
  });

  it("takes a digit of the time at the beginning of the body for the time; here that is refused", async () => {
    const body = '{"type":1}';
    const headers = signed(body);
    const moved = { ...headers, "x-signature-timestamp": String(NOW_S).slice(0, -1) };
    expect(await sdkVerifies(moved, `0${body}`)).toBe(true);
    expect(await ours.verify(moved, `0${body}`)).toEqual({ ok: false, reason: "missing_signed_part" });
  });
});

describe("Paddle's SDK", () => {
  const secret = "pdl_ntfset_made_up_of_paddle";
  const { webhooks } = new Paddle("made-up");
  const ours = here(paddle, secret);
  const sdkVerifies = (header: string, body: string) => webhooks.isSignatureValid(body, secret, header);

  it("accepts what is signed here, and nothing else", async () => {
    await fc.assert(
      fc.asyncProperty(payload, async (body) => {
        const { headers } = ours.sign(body);
        const header = headers["paddle-signature"] as string;
        expect(await sdkVerifies(header, body)).toBe(true);
        expect(await sdkVerifies(header, `${body} `)).toBe(false);
        expect(
          await sdkVerifies(
            header.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
            body,
          ),
        ).toBe(false);
      }),
      runs,
    );
  });

  it("looks at the last h1 only; here any of them may be the right one", async () => {
    const { headers } = ours.sign("{}");
    const [ts, h1] = (headers["paddle-signature"] as string).split(";") as [string, string];
    const other = `h1=${"0".repeat(64)}`;
    expect(await sdkVerifies(`${ts};${other};${h1}`, "{}")).toBe(true);
    expect(await sdkVerifies(`${ts};${h1};${other}`, "{}")).toBe(false);
    for (const header of [`${ts};${other};${h1}`, `${ts};${h1};${other}`]) {
      expect(await ours.verify({ "paddle-signature": header }, "{}")).toMatchObject({ ok: true });
    }
  });

  it("accepts any future and a second time; both are refused here", async () => {
    const at = (seconds: number) =>
      signRequest(paddle, { body: utf8("{}") }, secret, { nowMs: now + seconds * 1000 }).headers;
    for (const [seconds, sdk, own] of [
      [-5, true, true],
      [-6, false, false],
      [5, true, true],
      [6, true, false],
    ] as const) {
      const headers = at(seconds);
      expect(await sdkVerifies(headers["paddle-signature"] as string, "{}"), `${seconds} s`).toBe(sdk);
      expect((await ours.verify(headers, "{}")).ok, `${seconds} s`).toBe(own);
    }
    const twice = `ts=1;${at(0)["paddle-signature"]}`;
    expect(await sdkVerifies(twice, "{}")).toBe(true);
    expect(await ours.verify({ "paddle-signature": twice }, "{}")).toEqual({
      ok: false,
      reason: "malformed_signature",
    });
  });
});
