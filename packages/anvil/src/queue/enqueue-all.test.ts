import {
  sharedRedisUrl,
  startRedis,
  startRedisCluster,
  startRestFront,
  startTcpProxy,
  uniquePrefix,
} from "anvil-testkit";
import { Redis } from "ioredis";
import { describe, expect, it, onTestFinished } from "vitest";
import { silentLog } from "../contract/log.ts";
import { createConnection } from "./connection.ts";
import { deadlineIn } from "./deadline.ts";
import type { NewJob } from "./enqueue.ts";
import type { EventStore } from "./event-store.ts";
import { someJob } from "./fixtures.ts";
import { restStore } from "./rest-store.ts";
import { tcpStore } from "./tcp-store.ts";

const DEADLINE_MS = 1_000;
const unavailable = { code: "redis_unavailable" };

function storeOn(redis: string, prefix: string): EventStore {
  const connection = createConnection({ redis, name: "anvil-test", deadlineMs: DEADLINE_MS, log: silentLog });
  const store = tcpStore(connection, { prefix });
  onTestFinished(() => store.close());
  return store;
}

function clientOf(url: string): Redis {
  const redis = new Redis(url);
  redis.on("error", () => {});
  onTestFinished(() => redis.disconnect());
  return redis;
}

const jobs = (count = 20): NewJob[] => Array.from({ length: count }, () => someJob());
const add = (store: EventStore, list: readonly NewJob[], ms = DEADLINE_MS) =>
  store.enqueueAll(deadlineIn(ms), list);
const fresh = (list: readonly NewJob[]) => list.map(({ id }) => ({ jobId: id, replayed: false }));

/** How many jobs there are, and that there is as much of everything that makes one. */
async function whole(redis: Redis, prefix: string): Promise<number> {
  const waiting = await redis.llen(`${prefix}:webhooks:wait`);
  expect(await redis.keys(`${prefix}:webhooks:de:*`)).toHaveLength(waiting);
  expect(await redis.keys(`${prefix}:webhooks:wh_*`)).toHaveLength(waiting);
  return waiting;
}

describe("a list is stored as a whole or not at all", () => {
  it("by a Redis that is full, and is new when it comes again; the error says that it is full", async () => {
    const server = await startRedis();
    const prefix = uniquePrefix();
    const redis = clientOf(server.url);
    const store = storeOn(server.url, prefix);
    const list = jobs();
    await add(store, jobs(2));
    await redis.config("SET", "maxmemory", "1");
    await expect(add(store, list)).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringContaining("OOM") as string,
    });
    expect(await whole(redis, prefix)).toBe(2);
    await redis.config("SET", "maxmemory", "0");
    expect(await add(store, list)).toEqual(fresh(list));
    expect(await whole(redis, prefix)).toBe(22);
  });

  it("by a Redis that becomes full while lists come, one after the other", async () => {
    const server = await startRedis();
    const prefix = uniquePrefix();
    const redis = clientOf(server.url);
    const store = storeOn(server.url, prefix);
    await add(store, jobs(10));
    const used = Number(/used_memory:(\d+)/.exec(await redis.info("memory"))?.[1]);
    await redis.config("SET", "maxmemory", String(used + 1_000_000));
    const list = () => Array.from({ length: 10 }, () => someJob({ body: "x".repeat(5_000) }));
    let stored = 0;
    for (let refused = false; !refused; ) {
      refused = await add(store, list(), 3_000).then(
        () => false,
        () => true,
      );
      if (!refused) stored += 1;
    }
    expect(stored).toBeGreaterThan(2);
    expect(await whole(redis, prefix)).toBe(10 + stored * 10);
  });

  it("by a Redis that is killed in the middle of many", async () => {
    const server = await startRedis({ appendonly: true, args: ["--appendfsync", "always"] });
    const prefix = uniquePrefix();
    const store = storeOn(server.url, prefix);
    const lists = Array.from({ length: 40 }, () => jobs(15));
    await add(store, jobs(1));
    const results = lists.map((list) => add(store, list, 4_000));
    await Promise.race(results);
    await server.kill();
    await server.restart();
    // Those that were under way are sent again, with the ids that they had.
    expect(await Promise.all(results)).toEqual(lists.map(fresh));
    const redis = clientOf(server.url);
    expect(await whole(redis, prefix)).toBe(40 * 15 + 1);
  });

  it("when the answer is lost: what is sent again finds its own jobs", async () => {
    const prefix = uniquePrefix();
    const proxy = await startTcpProxy(Number(new URL(sharedRedisUrl()).port));
    const redis = clientOf(sharedRedisUrl());
    const store = storeOn(`redis://127.0.0.1:${proxy.port}`, prefix);
    await add(store, jobs(1));
    const list = jobs();
    proxy.swallowReplies();
    const answer = add(store, list);
    await expect.poll(() => redis.llen(`${prefix}:webhooks:wait`)).toBe(21);
    proxy.heal();
    proxy.cut();
    expect(await answer).toEqual(fresh(list));
    expect(await whole(redis, prefix)).toBe(21);
  });

  it("by a cluster whose slot has moved", async () => {
    const cluster = await startRedisCluster();
    const prefix = uniquePrefix();
    const store = storeOn(cluster.urls.join(","), prefix);
    await add(store, jobs(3));
    const from = await cluster.nodeOf(`${prefix}:webhooks:wait`);
    const to = cluster.nodes.find((node) => node !== from) as typeof from;
    await cluster.moveSlot(`${prefix}:webhooks:wait`, to);
    const list = jobs();
    expect(await add(store, list, 3_000)).toEqual(fresh(list));
    expect(await whole(clientOf(to.url), prefix)).toBe(23);
  });
});

describe("a list over REST is stored as a whole or not at all", () => {
  async function started() {
    const prefix = uniquePrefix();
    const front = await startRestFront(sharedRedisUrl());
    const store = restStore(front, { prefix }, DEADLINE_MS, silentLog);
    return { prefix, front, store, redis: clientOf(sharedRedisUrl()) };
  }

  it("in one request", async () => {
    const { front, store } = await started();
    await add(store, jobs());
    expect(front.requests()).toBe(1);
  });

  it("when the answer is lost: what is sent again finds its own jobs", async () => {
    const { prefix, front, store, redis } = await started();
    const list = jobs();
    front.fail({ kind: "lost reply" }, 1);
    expect(await add(store, list)).toEqual(fresh(list));
    expect(await whole(redis, prefix)).toBe(20);
  });

  for (const [what, status, body] of [
    ["an empty list", 200, "[]"],
    ["too short a list", 200, '[{"result":"QWJvcnRlZA=="}]'],
    ["an error of one command", 200, `[{"result":"d2hfYQ=="},{"error":"OOM command not allowed"}]`],
    ["a discarded transaction", 400, '{"error":"EXECABORT Transaction discarded"}'],
    ["a gateway's page", 502, "<html>bad gateway</html>"],
  ] as const) {
    it(`and ${what} is never taken for stored`, async () => {
      const { prefix, front, store, redis } = await started();
      const list = jobs(2);
      front.fail({ kind: "answer", status, body }, Number.POSITIVE_INFINITY);
      await expect(add(store, list, 300)).rejects.toMatchObject(unavailable);
      front.heal();
      expect(await add(store, list)).toEqual(fresh(list));
      expect(await whole(redis, prefix)).toBe(2);
    });
  }

  it("by a Redis that is full", async () => {
    const server = await startRedis();
    const prefix = uniquePrefix();
    const redis = clientOf(server.url);
    const front = await startRestFront(server.url);
    const store = restStore(front, { prefix }, DEADLINE_MS, silentLog);
    await redis.config("SET", "maxmemory", "1");
    await expect(add(store, jobs())).rejects.toMatchObject(unavailable);
    expect(await whole(redis, prefix)).toBe(0);
  });
});
