import { randomUUID } from "node:crypto";
import {
  sharedRedisUrl,
  snapshotKeys,
  startRedis,
  startRestFront,
  uniquePrefix,
  waitUntil,
} from "anvil-testkit";
import { Redis } from "ioredis";
import { afterEach, describe, expect, it } from "vitest";
import type { SourceLimits } from "../contract/config.ts";
import { Unrecoverable } from "../contract/handler-errors.ts";
import { silentLog } from "../contract/log.ts";
import { createWorker } from "../worker/create-worker.ts";
import { createServer, type Server } from "./create-server.ts";
import { deliver, SECRET } from "./fixtures.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

type Where = { readonly prefix: string; readonly redis?: string; readonly rest?: boolean };

async function ingress(
  limits: SourceLimits,
  { prefix, redis = sharedRedisUrl(), rest }: Where,
): Promise<Server> {
  const app = createServer({
    sources: {
      default: { provider: "hmac", secret: SECRET, limits },
      free: { provider: "hmac", secret: SECRET },
    },
    ...(rest ? { upstash: await startRestFront(redis) } : { redis }),
    prefix,
    log: silentLog,
  });
  closers.push(() => app.close());
  return app;
}

function client(url = sharedRedisUrl()): Redis {
  const redis = new Redis(url);
  closers.push(async () => redis.disconnect());
  return redis;
}

const some = () => `{"id":"${randomUUID()}"}`;

async function statuses(answers: readonly Promise<{ status: number }>[]): Promise<Record<number, number>> {
  const counted: Record<number, number> = {};
  for (const { status } of await Promise.all(answers)) counted[status] = (counted[status] ?? 0) + 1;
  return counted;
}

for (const [transport, rest] of [
  ["TCP", false],
  ["REST", true],
] as const) {
  describe(`the limits of a source over ${transport}`, () => {
    it("let a burst through, then answer 429 and leave no trace, so that a redelivery is accepted", async () => {
      const prefix = uniquePrefix();
      const app = await ingress({ perSecond: 1, burst: 3 }, { prefix, rest });
      const first = await deliver(app, "first");
      expect(await statuses([some(), some()].map((body) => deliver(app, body)))).toEqual({ 202: 2 });
      const before = await snapshotKeys(sharedRedisUrl(), prefix);
      const refused = await deliver(app, "one too many");
      expect(refused).toMatchObject({
        status: 429,
        retryAfter: "1",
        body: { error: { code: "rate_limited" } },
      });
      expect(await snapshotKeys(sharedRedisUrl(), prefix)).toEqual(before);
      // Seen before: answered whatever the limit says.
      expect(await deliver(app, "first")).toMatchObject({
        status: 202,
        body: { jobId: first.body.jobId, replayed: true },
      });
      // Another source has nothing to do with it.
      expect((await deliver(app, some(), "free")).status).toBe(202);
      const later = await waitUntil(
        async () => {
          const again = await deliver(app, "one too many");
          return again.status === 202 && again;
        },
        { what: "the refused event is accepted later" },
      );
      expect(later.body.replayed).toBe(false);
    });

    it("let exactly so many wait, of 200 at once at two servers", async () => {
      const prefix = uniquePrefix();
      const apps = [
        await ingress({ waiting: 20 }, { prefix, rest }),
        await ingress({ waiting: 20 }, { prefix, rest }),
      ];
      const answers = Array.from({ length: 200 }, (_, n) => deliver(apps[n % 2] as Server, some()));
      expect(await statuses(answers)).toEqual({ 202: 20, 503: 180 });
      const refused = await deliver(apps[0] as Server, some());
      expect(refused).toMatchObject({
        status: 503,
        retryAfter: "30",
        body: { error: { code: "queue_full" } },
      });
      const redis = client();
      expect(await redis.llen(`${prefix}:webhooks:wait`)).toBe(20);
      expect(await redis.llen(`${prefix}:webhooks:limit:default:waiting`)).toBe(20);
      expect((await deliver(apps[1] as Server, some(), "free")).status).toBe(202);
    });
  });
}

describe("an event that is sent twice because its answer was lost", () => {
  it("is counted once, and not refused by what it used up itself", async () => {
    const prefix = uniquePrefix();
    const front = await startRestFront(sharedRedisUrl());
    const limits = { perSecond: 0.01, burst: 2, waiting: 2 };
    const app = createServer({
      sources: { default: { provider: "hmac", secret: SECRET, limits } },
      ...{ upstash: front, prefix, log: silentLog },
    });
    for (let n = 0; n < 2; n++) {
      front.fail({ kind: "lost reply" }, 1);
      expect(await deliver(app, some())).toMatchObject({ status: 202, body: { replayed: false } });
    }
    expect((await deliver(app, some())).status).toBe(503);
    expect(await client().llen(`${prefix}:webhooks:limit:default:waiting`)).toBe(2);
  });
});

describe("the rate of a source", () => {
  it("is one for all servers", async () => {
    const prefix = uniquePrefix();
    const limits = { perSecond: 0.01, burst: 10 };
    const apps = [await ingress(limits, { prefix }), await ingress(limits, { prefix })];
    const answers = Array.from({ length: 60 }, (_, n) => deliver(apps[n % 2] as Server, some()));
    expect(await statuses(answers)).toEqual({ 202: 10, 429: 50 });
  });

  it("says in whole seconds when the next may come", async () => {
    const app = await ingress({ perSecond: 0.1 }, { prefix: uniquePrefix() });
    expect((await deliver(app, some())).status).toBe(202);
    expect(Number((await deliver(app, some())).retryAfter)).toBeGreaterThanOrEqual(9);
    expect(Number((await deliver(app, some())).retryAfter)).toBeLessThanOrEqual(10);
  });

  it("holds over time and not only at once", async () => {
    const app = await ingress({ perSecond: 20, burst: 1 }, { prefix: uniquePrefix() });
    const from = performance.now();
    let accepted = 0;
    while (performance.now() - from < 1_000) if ((await deliver(app, some())).status === 202) accepted++;
    expect(accepted).toBeGreaterThanOrEqual(10);
    expect(accepted).toBeLessThanOrEqual(21);
  });

  it("shuts nobody out whose Redis has had its clock put back", async () => {
    const prefix = uniquePrefix();
    const app = await ingress({ perSecond: 1 }, { prefix });
    const ahead = (Date.now() + 3_600_000) * 1_000;
    await client().set(`${prefix}:webhooks:limit:default:rate`, ahead, "PX", 3_600_000);
    expect((await deliver(app, some())).status).toBe(202);
    expect((await deliver(app, some())).status).toBe(429);
  });
});

describe("the places for waiting events of a source", () => {
  it("count what is active and what is delayed, and are free again once it is done or dead", async () => {
    const prefix = uniquePrefix();
    const app = await ingress({ waiting: 2 }, { prefix });
    const redis = client();
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const worker = createWorker(
      async (event) => {
        if (event.text === "slow") await finished;
        if (event.text === "dead") throw new Unrecoverable("made up");
        if (event.text === "retried") throw new Error("made up");
      },
      { redis: sharedRedisUrl(), prefix, log: silentLog },
    );
    closers.push(() => worker.close());
    await deliver(app, "slow");
    await worker.start();
    await waitUntil(() => redis.llen(`${prefix}:webhooks:active`), { what: "one job runs" });
    await deliver(app, "retried");
    await waitUntil(() => redis.zcard(`${prefix}:webhooks:delayed`), { what: "the other is delayed" });
    expect((await deliver(app, "dead")).status).toBe(503);

    finish();
    await waitUntil(async () => (await deliver(app, "dead")).status === 202, {
      what: "done: a place is free",
    });
    await waitUntil(() => redis.zcard(`${prefix}:webhooks.dead:failed`), { what: "it is a dead letter" });
    expect((await deliver(app, some())).status).toBe(202);
    expect((await deliver(app, "dead")).body.replayed).toBe(true);
  });

  it("aren't lost while Redis is full", async () => {
    const { url } = await startRedis();
    const redis = client(url);
    const prefix = uniquePrefix();
    const app = await ingress({ waiting: 3 }, { prefix, redis: url });
    for (let n = 0; n < 3; n++) await deliver(app, some());
    await redis.config("SET", "maxmemory", "1");
    for (let n = 0; n < 5; n++) {
      expect(await deliver(app, some())).toMatchObject({
        status: 503,
        body: { error: { code: "not_stored" } },
      });
    }
    expect(await redis.llen(`${prefix}:webhooks:limit:default:waiting`)).toBe(3);
    await redis.config("SET", "maxmemory", "0");
    expect(await deliver(app, some())).toMatchObject({
      status: 503,
      body: { error: { code: "queue_full" } },
    });
  });

  it("may be fewer after a deploy", async () => {
    const prefix = uniquePrefix();
    const before = await ingress({ waiting: 10 }, { prefix });
    for (let n = 0; n < 10; n++) await deliver(before, some());
    const after = await ingress({ waiting: 4 }, { prefix });
    const redis = client();
    const jobs = await redis.lrange(`${prefix}:webhooks:wait`, 0, -1);
    await redis.del(jobs.slice(0, 6).map((id) => `${prefix}:webhooks:${id}`));
    expect((await deliver(after, some())).status).toBe(503);
    await redis.del(jobs.slice(6, 7).map((id) => `${prefix}:webhooks:${id}`));
    expect(await statuses([some(), some()].map((body) => deliver(after, body)))).toEqual({ 202: 1, 503: 1 });
  });
});
