import { createHash, createHmac, generateKeyPairSync, sign } from "node:crypto";
import { sharedRedisUrl, snapshotKeys, uniquePrefix } from "anvil-testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Log } from "webhook-anvil";
import type { ProviderName } from "webhook-anvil/signatures";
import { type Answer, type Delivery, deployedHosts, type Host } from "./hosts.ts";

const SECRET = "made-up-secret-of-the-handshakes";
const NOW = Date.now();
const SECONDS = String(Math.floor(NOW / 1_000));
const CHALLENGE = "made-up.challenge_1~2/3=";
const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const DISCORD_KEY = publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex");
const BRAINTREE_CHALLENGE = "0123456789abcdef0123";

const bytes = (value: unknown) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
const hmac = (text: string | Buffer, encoding: "hex" | "base64" = "hex") =>
  createHmac("sha256", SECRET).update(text).digest(encoding);
const JSON_TYPE = { "content-type": "application/json" };
const FORM_TYPE = { "content-type": "application/x-www-form-urlencoded; charset=UTF-8" };

function slack(payload: object): Delivery {
  const body = bytes(payload);
  const signature = `v0=${hmac(`v0:${SECONDS}:${body}`)}`;
  const headers = { "x-slack-request-timestamp": SECONDS, "x-slack-signature": signature };
  return { body, headers: { ...JSON_TYPE, ...headers } };
}
function discord(payload: object, signed = bytes(payload)): Delivery {
  const signature = sign(null, Buffer.concat([bytes(SECONDS), signed]), privateKey).toString("hex");
  const headers = { "x-signature-timestamp": SECONDS, "x-signature-ed25519": signature };
  return { body: bytes(payload), headers: { ...JSON_TYPE, ...headers } };
}
function twitch(type: string, payload: object): Delivery {
  const body = bytes(payload);
  const at = new Date(NOW).toISOString();
  const id = createHash("sha256").update(body).digest("hex").slice(0, 32);
  return {
    body,
    headers: {
      ...JSON_TYPE,
      "twitch-eventsub-message-id": id,
      "twitch-eventsub-message-timestamp": at,
      "twitch-eventsub-message-type": type,
      "twitch-eventsub-message-signature": `sha256=${hmac(`${id}${at}${body}`)}`,
    },
  };
}
const TWITCH_ASKS = {
  challenge: CHALLENGE,
  subscription: { type: "channel.follow", status: "webhook_callback_verification_pending" },
};
const TWITCH_EVENT = {
  challenge: "not-this-either",
  subscription: { type: "channel.follow", status: "enabled" },
  event: { user_id: "1", challenge: "not-this" },
};
const ZOOM_ASKS = { event: "endpoint.url_validation", payload: { plainToken: CHALLENGE } };
const mandrill = (events: string, key: string): Delivery => ({
  body: bytes(new URLSearchParams({ mandrill_events: events }).toString()),
  headers: {
    ...FORM_TYPE,
    "x-mandrill-signature": createHmac("sha1", key)
      .update(`https://hooks.example/webhooks/mandrill?a=1mandrill_events${events}`)
      .digest("base64"),
  },
});

type Shake = {
  readonly provider: ProviderName;
  readonly what: string;
  readonly delivery: Delivery & { readonly query?: string };
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
};
const plain = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
const asJson = { "content-type": "application/json", "x-content-type-options": "nosniff" };
const q = encodeURIComponent;
const hub = (more: string) =>
  `?hub.mode=subscribe&hub.verify_token=made-up-verify-token&hub.challenge=1158201444${more}`;
const topic = q("https://hub.example/feed");

const shakes: readonly Shake[] = [
  {
    provider: "slack",
    what: "url_verification",
    delivery: slack({ type: "url_verification", challenge: CHALLENGE }),
    status: 200,
    text: CHALLENGE,
    headers: plain,
  },
  {
    provider: "meta",
    what: "the right verify token",
    delivery: { method: "GET", query: hub("") },
    status: 200,
    text: "1158201444",
    headers: plain,
  },
  {
    provider: "meta",
    what: "a wrong verify token",
    delivery: { method: "GET", query: hub("").replace("made-up-verify", "other") },
    status: 403,
    text: "refused",
    headers: plain,
  },
  {
    provider: "meta",
    what: "markup for a challenge",
    delivery: { method: "GET", query: hub("").replace("1158201444", q("<script>")) },
    status: 403,
    text: "refused",
    headers: plain,
  },
  {
    provider: "websub",
    what: "a topic of ours",
    delivery: { method: "GET", query: `${hub("")}&hub.topic=${topic}&hub.lease_seconds=864000` },
    status: 200,
    text: "1158201444",
    headers: plain,
  },
  {
    provider: "websub",
    what: "a foreign topic",
    delivery: { method: "GET", query: `${hub("")}&hub.topic=${topic}x` },
    status: 404,
    text: "refused",
  },
  {
    provider: "websub",
    what: "the end of a topic of ours, which somebody else asked for",
    delivery: { method: "GET", query: hub(`&hub.topic=${topic}`).replace("subscribe", "unsubscribe") },
    status: 404,
    text: "refused",
  },
  {
    provider: "websub",
    what: "the end of another topic",
    delivery: { method: "GET", query: hub(`&hub.topic=${topic}x`).replace("subscribe", "unsubscribe") },
    status: 200,
    text: "1158201444",
    headers: plain,
  },
  {
    provider: "websub",
    what: "another verify token than was configured",
    delivery: {
      method: "GET",
      query: hub(`&hub.topic=${topic}`).replace("made-up-verify-token", "other"),
    },
    status: 404,
    text: "refused",
  },
  {
    provider: "x",
    what: "a CRC token",
    delivery: { method: "GET", query: `?crc_token=${q(CHALLENGE)}&nonce=made-up` },
    status: 200,
    text: JSON.stringify({ response_token: `sha256=${hmac(CHALLENGE, "base64")}` }),
    headers: asJson,
  },
  {
    provider: "zoom",
    what: "url_validation, unsigned",
    delivery: { body: bytes(ZOOM_ASKS), headers: JSON_TYPE },
    status: 200,
    text: JSON.stringify({ plainToken: CHALLENGE, encryptedToken: hmac(CHALLENGE) }),
    headers: asJson,
  },
  {
    provider: "zoom",
    what: "url_validation, signed",
    delivery: {
      body: bytes(ZOOM_ASKS),
      headers: {
        ...JSON_TYPE,
        "x-zm-request-timestamp": SECONDS,
        "x-zm-signature": `v0=${hmac(`v0:${SECONDS}:${bytes(ZOOM_ASKS)}`)}`,
      },
    },
    status: 200,
    text: JSON.stringify({ plainToken: CHALLENGE, encryptedToken: hmac(CHALLENGE) }),
  },
  {
    provider: "microsoft-graph",
    what: "a validation token with spaces and markup",
    delivery: {
      query: `?validationToken=${q("Validation: <script>")}+${q("Request-Id: 1")}`,
      body: new Uint8Array(),
    },
    status: 200,
    text: "Validation: <script> Request-Id: 1",
    headers: { ...plain, "content-security-policy": "default-src 'none'; sandbox" },
  },
  {
    provider: "dropbox",
    what: "a challenge",
    delivery: { method: "GET", query: `?challenge=${q(CHALLENGE)}` },
    status: 200,
    text: CHALLENGE,
    headers: plain,
  },
  {
    provider: "twitch",
    what: "a challenge",
    delivery: twitch("webhook_callback_verification", TWITCH_ASKS),
    status: 200,
    text: CHALLENGE,
    headers: plain,
  },
  {
    provider: "twitch",
    what: "a captured challenge that says it is a notification",
    delivery: twitch("notification", TWITCH_ASKS),
    status: 200,
    text: CHALLENGE,
  },
  {
    provider: "okta",
    what: "a challenge with the right Authorization",
    delivery: {
      method: "GET",
      headers: { authorization: SECRET, "x-okta-verification-challenge": CHALLENGE },
    },
    status: 200,
    text: JSON.stringify({ verification: CHALLENGE }),
    headers: asJson,
  },
  {
    provider: "okta",
    what: "a challenge without it",
    delivery: { method: "GET", headers: { "x-okta-verification-challenge": CHALLENGE } },
    status: 401,
    text: "refused",
  },
  {
    provider: "asana",
    what: "a secret",
    delivery: { headers: { "x-hook-secret": "b537207f20cbfa02357cf448134da559" }, body: bytes("{}") },
    status: 200,
    text: "",
    headers: { "x-hook-secret": "b537207f20cbfa02357cf448134da559" },
  },
  {
    provider: "asana",
    what: "a heartbeat",
    delivery: {
      headers: { ...JSON_TYPE, "x-hook-signature": hmac('{"events":[]}') },
      body: bytes('{"events":[]}'),
    },
    status: 200,
    text: "",
  },
  {
    provider: "line",
    what: "the button that verifies",
    delivery: {
      headers: { ...JSON_TYPE, "x-line-signature": hmac('{"destination":"U1","events":[]}', "base64") },
      body: bytes('{"destination":"U1","events":[]}'),
    },
    status: 200,
    text: "",
  },
  ...(["trello", "intercom", "mandrill"] as const).map(
    (provider): Shake => ({ provider, what: "HEAD", delivery: { method: "HEAD" }, status: 200, text: "" }),
  ),
  {
    provider: "mandrill",
    what: "an empty list, signed with the key of its test",
    delivery: mandrill("[]", "test-webhook"),
    status: 200,
    text: "",
  },
  {
    provider: "discord",
    what: "PING of interactions",
    delivery: discord({ id: "1", type: 1, version: 1 }),
    status: 200,
    text: '{"type":1}',
    headers: asJson,
  },
  {
    provider: "discord",
    what: "PING of webhook events",
    delivery: discord({ version: 1, application_id: "1", type: 0 }),
    status: 204,
    text: "",
  },
  {
    provider: "woocommerce",
    what: "the ping of a new webhook",
    delivery: { body: bytes("webhook_id=42"), headers: FORM_TYPE },
    status: 200,
    text: "",
  },
  {
    provider: "braintree",
    what: "a challenge",
    delivery: { method: "GET", query: `?bt_challenge=${BRAINTREE_CHALLENGE}` },
    status: 200,
    text: `made_up_public|${createHmac("sha1", createHash("sha1").update("made_up_private_key").digest())
      .update(BRAINTREE_CHALLENGE)
      .digest("hex")}`,
    headers: plain,
  },
];

/** What only looks like a handshake. */
const noShakes: readonly (Omit<Shake, "text" | "headers"> & { readonly text?: string })[] = [
  {
    provider: "slack",
    what: "url_verification with a wrong signature",
    delivery: { ...slack({ type: "x" }), body: bytes({ type: "url_verification", challenge: "a" }) },
    status: 401,
  },
  {
    provider: "discord",
    what: "PING with a wrong signature",
    delivery: discord({ type: 1 }, bytes({ type: 2 })),
    status: 401,
  },
  { provider: "meta", what: "another mode", delivery: { method: "GET", query: "?hub.mode=x" }, status: 405 },
  {
    provider: "x",
    what: "markup for a token",
    delivery: { method: "GET", query: "?crc_token=%3Cb%3E" },
    status: 405,
  },
  {
    provider: "x",
    what: "JSON for a token",
    delivery: { method: "GET", query: "?crc_token=%7B%7D" },
    status: 405,
  },
  {
    provider: "x",
    what: "a token that is too long",
    delivery: { method: "GET", query: `?crc_token=${"a".repeat(201)}` },
    status: 405,
  },
  { provider: "dropbox", what: "HEAD", delivery: { method: "HEAD" }, status: 405 },
  { provider: "trello", what: "GET", delivery: { method: "GET" }, status: 405 },
  {
    provider: "zoom",
    what: "url_validation with a wrong signature",
    delivery: {
      body: bytes(ZOOM_ASKS),
      headers: { ...JSON_TYPE, "x-zm-request-timestamp": SECONDS, "x-zm-signature": `v0=${"0".repeat(64)}` },
    },
    status: 401,
  },
  {
    provider: "zoom",
    what: "url_validation in a body that is too long to be one",
    delivery: { body: bytes({ ...ZOOM_ASKS, more: "x".repeat(5_000) }), headers: JSON_TYPE },
    status: 401,
  },
  {
    provider: "woocommerce",
    what: "a ping with more in it",
    delivery: { body: bytes("webhook_id=42&a=1"), headers: FORM_TYPE },
    status: 401,
  },
  {
    provider: "mandrill",
    what: "events, signed with the key of its test",
    delivery: mandrill('[{"_id":"1"}]', "test-webhook"),
    status: 401,
  },
  {
    provider: "microsoft-graph",
    what: "a validation token that is too long",
    delivery: { query: `?validationToken=${"a".repeat(2_001)}`, body: bytes("{}"), headers: JSON_TYPE },
    status: 401,
  },
  {
    provider: "asana",
    what: "a secret with markup",
    delivery: { headers: { "x-hook-secret": "<b>" }, body: bytes("{}") },
    status: 401,
  },
];

/** Deliveries that a handshake must not swallow. */
const events: readonly (readonly [ProviderName, string, Delivery])[] = [
  [
    "twitch",
    "a captured notification that says it is a challenge",
    twitch("webhook_callback_verification", TWITCH_EVENT),
  ],
  [
    "discord",
    "a webhook event, whose type is 1 as well",
    discord({ type: 1, event: { type: "ENTITLEMENT_CREATE" } }),
  ],
  [
    "slack",
    "an event with a challenge in it",
    slack({ type: "event_callback", challenge: "a", event_id: "Ev1" }),
  ],
];

const urls: Partial<Record<ProviderName, string>> = {
  trello: "https://hooks.example/webhooks/trello",
  mandrill: "https://hooks.example/webhooks/mandrill?a=1",
};
const secrets: Partial<Record<ProviderName, string>> = {
  discord: DISCORD_KEY,
  braintree: "made_up_public|made_up_private_key",
};
const named = [...new Set(shakes.map(({ provider }) => provider))];

describe.each(deployedHosts.slice(0, 2))("handshakes %s", (_, start) => {
  const prefix = uniquePrefix();
  const lines: string[] = [];
  const keep = (fields: object, message: string) => void lines.push(JSON.stringify({ message, ...fields }));
  const log: Log = { info: keep, warn: keep, error: keep };
  let host: Host;
  beforeAll(async () => {
    host = await start({
      redis: sharedRedisUrl(),
      prefix,
      secret: SECRET,
      sources: {
        ...Object.fromEntries(
          named.map((provider) => [
            provider,
            {
              provider,
              secret: secrets[provider] ?? SECRET,
              // A URL that was configured has its own query; a handshake is asked in the request's.
              url: urls[provider] ?? `https://hooks.example/webhooks/${provider}?configured=1`,
              ...(["meta", "websub"].includes(provider) ? { verifyToken: "made-up-verify-token" } : {}),
              ...(provider === "websub" ? { topics: ["https://hub.example/feed"] } : {}),
            },
          ]),
        ),
        stripe: { provider: "stripe", secret: "whsec_made_up_for_the_tests" },
      },
      log,
    });
  });
  afterAll(() => host.close());
  beforeEach(() => void lines.splice(0));

  const send = (
    source: string,
    { query = "", ...delivery }: Delivery & { query?: string },
  ): Promise<Answer> => host.send({ ...delivery, path: `/webhooks/${source}${query}` });
  const keys = async () => Object.keys(await snapshotKeys(sharedRedisUrl(), prefix));

  for (const { provider, what, delivery, status, text, headers } of shakes) {
    it(`${provider}: ${what} is answered ${status}`, async () => {
      const answer = await send(provider, delivery);
      expect({ status: answer.status, text: answer.text }).toEqual({ status, text });
      for (const [name, value] of Object.entries(headers ?? {})) expect(answer.headers.get(name)).toBe(value);
      expect(lines.join()).toContain(status < 300 ? "handshake answered" : "handshake refused");
      expect(lines.join()).not.toContain(CHALLENGE);
    });

    it(`${provider}: ${what} is nothing to another source`, async () => {
      for (const source of ["default", "stripe"]) {
        const answer = await send(source, delivery);
        expect(answer.status).toBe((delivery.method ?? "POST") === "POST" ? 401 : 405);
        expect(answer.text).not.toContain(CHALLENGE);
      }
    });
  }

  for (const { provider, what, delivery, status } of noShakes) {
    it(`${provider}: ${what} is answered ${status}`, async () => {
      expect((await send(provider, delivery)).status).toBe(status);
      expect(lines.join()).not.toContain("handshake answered");
    });
  }

  it("stores nothing for any of them", async () => {
    for (const { provider, delivery } of [...shakes, ...noShakes]) await send(provider, delivery);
    expect(await keys()).toEqual([]);
  });

  for (const [provider, what, delivery] of events) {
    it(`${provider}: ${what} is stored`, async () => {
      expect((await send(provider, delivery)).status).toBe(202);
    });
  }

  it("does not let strangers fill the log with refused ones", async () => {
    for (let n = 0; n < 30; n++) await send("meta", { method: "GET", query: "?hub.mode=subscribe" });
    expect(lines.length).toBeLessThanOrEqual(20);
  });
});
