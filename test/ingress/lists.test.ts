import { createHash, createHmac, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import {
  sharedRedisUrl,
  snapshotKeys,
  startRedisReplicas,
  startRestFront,
  uniquePrefix,
} from "anvil-testkit";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decodeBody, type Envelope, silentLog } from "webhook-anvil";
import { resolveEncryption } from "webhook-anvil/queue";
import { type ProviderName, providers, signDelivery } from "webhook-anvil/signatures";
import { type Answer, deployedHosts, type Host, nodeHost } from "./hosts.ts";

const SECRET = "made-up-secret-of-the-lists";
const ADYEN_KEY = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056";
const ENCRYPTION_KEY = createHash("sha256").update("made up").digest("base64");
const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
const SENDGRID_KEY = publicKey.export({ format: "der", type: "spki" }).toString("base64");
const url = (source: string) => `https://hooks.example/webhooks/${source}`;

const bytes = (text: string) => new TextEncoder().encode(text);
const id = () => randomUUID();
let made = 0;
const number = () => Date.now() * 1_000 + made++;

/** How each provider writes a list, and an item of it; `again` is the item as a redelivery has it. */
type Kind = {
  readonly provider: ProviderName;
  readonly secret?: string;
  readonly type: string;
  readonly item: () => string;
  readonly again?: (item: string) => string;
  readonly list: (items: readonly string[]) => string;
};
const kinds: readonly Kind[] = [
  {
    provider: "sendgrid",
    secret: SENDGRID_KEY,
    type: "delivered",
    item: () => `{"sg_event_id":"${id()}","event":"delivered","timestamp":1760000000}`,
    list: (items) => `[${items.join(",\r\n")}]\r\n`,
  },
  {
    provider: "hubspot",
    type: "contact.creation",
    item: () =>
      `{ "eventId":${number()},"subscriptionId":12345,"occurredAt":1760000000000,"subscriptionType":"contact.creation","attemptNumber":0,"big":12345678901234567890 }`,
    again: (item) => item.replace('"attemptNumber":0', '"attemptNumber":1'),
    list: (items) => `[${items.join(" , ")}]`,
  },
  {
    provider: "okta",
    type: "user.session.start",
    item: () => `{"uuid":"${id()}","eventType":"user.session.start","text":"\\u00e9\\/"}`,
    list: (items) => `{"eventId":"${id()}","data":{"events":[${items.join(",\n")}]}}`,
  },
  {
    provider: "microsoft-graph",
    type: "updated",
    item: () => `{"id":"${id()}","changeType":"updated","clientState":"${SECRET}"}`,
    list: (items) => `{"value":[ ${items.join()} ],"sent":"${id()}"}`,
  },
  {
    provider: "meta",
    type: "feed",
    item: () => `{"id":"${id()}","time":1760000000,"changes":[{"field":"feed","value":"\\u00e9"}]}`,
    list: (items) => `{"object":"page","entry":[${items.join()}]}`,
  },
  {
    provider: "gocardless",
    type: "payments.confirmed",
    item: () => `{"id":"EV${id()}","resource_type":"payments","action":"confirmed"}`,
    list: (items) => `{"events":[${items.join()}],"meta":{"webhook_id":"WB1"}}`,
  },
  {
    provider: "line",
    type: "message",
    item: () => `{"type":"message","webhookEventId":"${id()}","deliveryContext":{"isRedelivery":false}}`,
    again: (item) => item.replace("false", "true"),
    list: (items) => `{"destination":"U1","events":[${items.join()}]}`,
  },
  {
    provider: "adyen",
    secret: ADYEN_KEY,
    type: "AUTHORISATION",
    item() {
      const psp = id().replaceAll("-", "");
      const signed = `${psp}::Made-up:order-1:1000:EUR:AUTHORISATION:true`;
      const signature = createHmac("sha256", Buffer.from(ADYEN_KEY, "hex")).update(signed).digest("base64");
      return `{"NotificationRequestItem":{"pspReference":"${psp}","merchantAccountCode":"Made-up","merchantReference":"order-1","amount":{"value":1000,"currency":"EUR"},"eventCode":"AUTHORISATION","success":"true","additionalData":{"hmacSignature":"${signature}"}}}`;
    },
    list: (items) => `{"live":"false","notificationItems":[${items.join()}]}`,
  },
];

function signatureOf({ provider, secret = SECRET }: Kind, source: string, body: Uint8Array) {
  // Theirs is in the body already.
  if (["adyen", "microsoft-graph"].includes(provider)) return {};
  if (provider === "sendgrid") {
    const time = String(Math.floor(Date.now() / 1_000));
    const name = "x-twilio-email-event-webhook-signature";
    const signature = sign("sha256", Buffer.concat([Buffer.from(time), body]), privateKey);
    return {
      [name]: signature.toString("base64"),
      "x-twilio-email-event-webhook-timestamp": time,
    };
  }
  const row = providers.get(provider) as NonNullable<ReturnType<typeof providers.get>>;
  return signDelivery(row, body, secret, { nowMs: Date.now(), url: url(source) });
}

describe.each(deployedHosts.slice(0, 2))("lists of events %s", (_, start) => {
  const prefix = uniquePrefix();
  let host: Host;
  let redis: Redis;
  beforeAll(async () => {
    redis = new Redis(sharedRedisUrl());
    const sources = (split: boolean, suffix: string) =>
      Object.fromEntries(
        kinds.map(({ provider, secret = SECRET }) => [
          provider + suffix,
          { provider, secret, split, url: url(provider + suffix) },
        ]),
      );
    host = await start({
      redis: sharedRedisUrl(),
      prefix,
      sources: { ...sources(false, ""), ...sources(true, "-split"), ...sources(true, "-other") },
      log: silentLog,
    });
  });
  afterAll(async () => {
    await host.close();
    redis.disconnect();
  });

  function deliver(kind: Kind, suffix: string, text: string): Promise<Answer> {
    const source = kind.provider + suffix;
    const headers = signatureOf(kind, source, bytes(text));
    return host.send({
      path: `/webhooks/${source}`,
      body: bytes(text),
      headers: { "content-type": "application/json", ...headers },
    });
  }
  type Told = { jobId: string; jobIds?: string[]; replayed: boolean };
  const told = ({ status, text, headers }: Answer): Told => {
    expect(status).toBe(202);
    // Adyen has its own idea of the answer; the ids are in headers then.
    if (text !== "[accepted]") return JSON.parse(text) as Told;
    return { jobId: headers.get("x-anvil-job-id") as string, replayed: false };
  };
  const stored = async (jobId: string) =>
    JSON.parse((await redis.hget(`${prefix}:webhooks:${jobId}`, "data")) as string) as Envelope;
  const count = async () => (await redis.keys(`${prefix}:webhooks:wh_*`)).length;
  const idsOf = async (kind: Kind, suffix: string) => {
    const all = await Promise.all(
      (await redis.keys(`${prefix}:webhooks:wh_*`)).map((key) => stored(key.slice(key.lastIndexOf(":") + 1))),
    );
    return all.filter(({ source }) => source === kind.provider + suffix);
  };

  for (const kind of kinds) {
    const { provider, item, list, again = (same: string) => same } = kind;

    it(`${provider}: a list is one job, and the same one when it comes again`, async () => {
      const items = [item(), item()];
      const text = list(items);
      const before = await count();
      const first = told(await deliver(kind, "", text));
      expect(Buffer.from(decodeBody(await stored(first.jobId))).toString()).toBe(text);
      const second = told(await deliver(kind, "", provider === "meta" ? text : list(items.map(again))));
      expect(second.jobId).toBe(first.jobId);
      expect(first).not.toHaveProperty("jobIds");
      expect(await count()).toBe(before + 1);
    });

    it(`${provider}: split, each item is a job with its own bytes, type and identity`, async () => {
      const items = [item(), item(), item()];
      const before = await count();
      const first = told(await deliver(kind, "-split", list(items)));
      const envelopes = await idsOf(kind, "-split");
      expect(envelopes.map((one) => Buffer.from(decodeBody(one)).toString()).sort()).toEqual(
        [...items].sort(),
      );
      expect(new Set(envelopes.map(({ key }) => key)).size).toBe(3);
      for (const one of envelopes) expect(one.type).toBe(kind.type);
      if (first.jobIds) expect(first.jobIds[0]).toBe(first.jobId);

      // The whole again, a part of it, and two that overlap at once: what is new is stored, once.
      const more = [item(), item()];
      await deliver(kind, "-split", list(items.map(again)));
      await deliver(kind, "-split", list(items.slice(1)));
      await Promise.all([
        deliver(kind, "-split", list([...items.slice(2), ...more])),
        deliver(kind, "-split", list([...more, ...items.slice(0, 2).map(again)])),
      ]);
      expect(await count()).toBe(before + 5);

      // To another source they are other events.
      await deliver(kind, "-other", list(items));
      expect(await count()).toBe(before + 8);
    });
  }

  const [, hubspot, okta] = kinds as [Kind, Kind, Kind];

  it("answers with every job id, and says that it was seen before when all of it was", async () => {
    const items = [okta.item(), okta.item()];
    const first = told(await deliver(okta, "-split", okta.list(items)));
    expect(first).toEqual({ jobId: first.jobIds?.[0], jobIds: expect.any(Array) as [], replayed: false });
    expect(first.jobIds).toHaveLength(2);
    expect(told(await deliver(okta, "-split", okta.list(items)))).toEqual({ ...first, replayed: true });
    const partly = told(await deliver(okta, "-split", okta.list([...items, okta.item()])));
    expect(partly).toMatchObject({ jobId: first.jobId, replayed: false });
    expect(partly.jobIds?.slice(0, 2)).toEqual(first.jobIds);
    const one = told(await deliver(okta, "-split", okta.list([okta.item()])));
    expect(Object.keys(one)).toEqual(["jobId", "replayed"]);
  });

  it("takes an empty list, and what is no list, for one event", async () => {
    for (const text of ["[]", "{}", '{"data":{"events":{}}}', '{"data":{"events":[]}}', "no JSON", ""]) {
      const before = await count();
      expect(told(await deliver(okta, "-split", `${text}`))).not.toHaveProperty("jobIds");
      expect(await count()).toBe(before + 1);
    }
    expect((await deliver(hubspot, "-split", "[]")).status).toBe(202);
  });

  it("stores nothing of a list with a wrong signature", async () => {
    const before = await snapshotKeys(sharedRedisUrl(), prefix);
    const text = hubspot.list([hubspot.item(), hubspot.item()]);
    const answer = await host.send({
      path: "/webhooks/hubspot-split",
      body: bytes(text),
      headers: { "x-hubspot-signature": createHmac("sha256", "other").update(text).digest("hex") },
    });
    expect(answer.status).toBe(401);
    expect(await snapshotKeys(sharedRedisUrl(), prefix)).toEqual(before);
  });
});

describe("lists of events with other settings", () => {
  const okta = kinds[2] as Kind;
  const settings = { provider: "okta", secret: SECRET, split: true } as const;
  const deliverTo = (host: Host, items: readonly string[]) =>
    host.send({
      path: "/webhooks/okta",
      body: bytes(okta.list(items)),
      headers: { authorization: SECRET, "content-type": "application/json" },
    });

  async function started(options: Partial<Parameters<typeof nodeHost>[0]>, more: object = {}) {
    const prefix = uniquePrefix();
    const redis = new Redis(sharedRedisUrl());
    const where = options.upstash ? {} : { redis: sharedRedisUrl() };
    const host = await nodeHost({
      ...where,
      prefix,
      sources: { okta: { ...settings, ...more } },
      log: silentLog,
      ...options,
    });
    const jobs = async () => (await redis.keys(`${prefix}:webhooks:wh_*`)).length;
    const close = async () => {
      await host.close();
      redis.disconnect();
    };
    return { host, jobs, redis, prefix, close };
  }

  it("are encrypted one by one, each bound to its own event", async () => {
    const { host, redis, prefix, close } = await started({ encryption: { key: ENCRYPTION_KEY } } as never);
    const items = [okta.item(), okta.item()];
    const { jobIds } = JSON.parse((await deliverTo(host, items)).text) as { jobIds: string[] };
    const cipher = resolveEncryption({ key: ENCRYPTION_KEY }, {}, []);
    for (const [n, jobId] of jobIds.entries()) {
      const data = (await redis.hget(`${prefix}:webhooks:${jobId}`, "data")) as string;
      expect(data).not.toContain('user.session.start","text');
      const envelope = JSON.parse(data) as Envelope;
      expect(envelope.encoding).toBe("aes-256-gcm");
      expect(Buffer.from(decodeBody(envelope, cipher)).toString()).toBe(items[n]);
    }
    await close();
  });

  it("over REST are one request, and all of it again after a lost answer", async () => {
    const front = await startRestFront(sharedRedisUrl());
    const { host, jobs, close } = await started({ upstash: front });
    const items = [okta.item(), okta.item(), okta.item()];
    front.fail({ kind: "lost reply" }, 1);
    expect(JSON.parse((await deliverTo(host, items)).text)).toMatchObject({ replayed: false });
    expect(front.requests()).toBe(2);
    expect(await jobs()).toBe(3);
    await close();
  });

  it("are answered once a replica has all of them, and are the same jobs when they come again", async () => {
    const redis = await startRedisReplicas();
    const { host, close } = await started({
      redis: redis.primary.url,
      durability: "replica",
      deadlineMs: 800,
    });
    const items = [okta.item(), okta.item(), okta.item()];
    await redis.replicas[0]?.pause();
    const refused = await deliverTo(host, items);
    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.text)).toMatchObject({ error: { code: "not_stored" } });
    await redis.replicas[0]?.resume();
    await redis.caughtUp();
    const accepted = JSON.parse((await deliverTo(host, items)).text) as { jobIds: string[] };
    // Stored at the first try already: that there was no 202 for it changes nothing.
    expect(accepted).toMatchObject({ replayed: true });
    expect(new Set(accepted.jobIds).size).toBe(3);
    await close();
  });

  it("over a limit are refused as a whole; what came before it is found when the list comes again", async () => {
    const { host, jobs, redis, prefix, close } = await started({}, { limits: { waiting: 2 } });
    const items = [okta.item(), okta.item(), okta.item()];
    const refused = await deliverTo(host, items);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("30");
    expect(await jobs()).toBe(2);
    // A handler is done with one.
    const [done] = await redis.lrange(`${prefix}:webhooks:wait`, -1, -1);
    await redis.hset(`${prefix}:webhooks:${done}`, "finishedOn", 1);
    const accepted = await deliverTo(host, items);
    expect(accepted.status).toBe(202);
    expect(JSON.parse(accepted.text)).toMatchObject({ replayed: false });
    expect(await jobs()).toBe(3);
    await close();
  });
});
