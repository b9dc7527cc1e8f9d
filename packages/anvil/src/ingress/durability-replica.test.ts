import {
  findServerWithWaitaof,
  startRedis,
  startRedisCluster,
  startRedisReplicas,
  startTcpProxy,
  waitUntil,
} from "anvil-testkit";
import { describe, expect, it } from "vitest";
import { clientOf, deliver, durableIngress, readiness, timely } from "./fixtures.ts";

const newer = await findServerWithWaitaof();
const newerServer = "server" in newer ? { server: newer.server } : undefined;
const withoutNewer = "missing" in newer ? ` (skipped: ${newer.missing})` : "";

// What WAIT waits for has changed with Redis 7.2, so that both have to be tried where there are both.
for (const [which, server, skipped] of [
  ["the server of every test", {}, ""],
  ["a newer server", newerServer, withoutNewer],
] as const) {
  describe.skipIf(!server)(`durability "replica", on ${which}${skipped}`, () => {
    it("answers 202 only once a replica has it, a redelivery too, and finds the job afterwards", async () => {
      const redis = await startRedisReplicas(server);
      const replica = redis.replicas[0] as (typeof redis.nodes)[number];
      const { app, log } = durableIngress(redis.primary.url, "replica");
      await app.checkDurability();
      expect(log.lines).toEqual([]);
      const before = await timely(app, "before");
      expect(before).toMatchObject({ status: 202, body: { replayed: false } });
      expect(await clientOf(replica.url).get(`{anvil}:webhooks:${before.body.jobId}`).catch(String)).toMatch(
        /WRONGTYPE/,
      );

      await replica.pause();
      const [refused, again, ready] = await Promise.all([
        timely(app, "meanwhile"),
        timely(app, "meanwhile"),
        readiness(app),
      ]);
      expect(refused).toMatchObject({ status: 503, body: { error: { code: "not_stored" } } });
      expect(again.status).toBe(503);
      expect(ready).toBe(503);
      expect(log.lines.join()).toContain("no replica acknowledged it in time");

      await replica.resume();
      const primary = clientOf(redis.primary.url);
      const [first] = await primary.lrange("{anvil}:webhooks:wait", 0, 0);
      expect(await timely(app, "meanwhile")).toMatchObject({
        status: 202,
        body: { jobId: first, replayed: true },
      });
      expect(await primary.llen("{anvil}:webhooks:wait")).toBe(2);
      expect(await readiness(app)).toBe(200);
    });
  });
}

describe('durability "replica"', () => {
  it("waits once for many", async () => {
    const redis = await startRedisReplicas();
    const { app } = durableIngress(redis.primary.url, "replica", 5_000);
    const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => deliver(app, `{"n":${n}}`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    const stats = await clientOf(redis.primary.url).info("commandstats");
    const waits = Number(/cmdstat_wait:calls=(\d+)/.exec(stats)?.[1]);
    expect(waits).toBeGreaterThanOrEqual(1);
    expect(waits).toBeLessThan(50);
  });

  it("takes no server's word for an event that another one has stored", async () => {
    const stored = await startRedisReplicas();
    const other = await startRedisReplicas();
    const proxy = await startTcpProxy(stored.primary.port);
    const { app, log } = durableIngress(`redis://127.0.0.1:${proxy.port}`, "replica");
    expect((await timely(app, "one")).status).toBe(202);
    // As after a failover that only one of the two connections has noticed; this new primary has a replica too.
    proxy.pointTo(other.primary.port);
    const admin = clientOf(stored.primary.url);
    const list = String(await admin.client("LIST"));
    const id = /id=(\d+) [^\n]*name=anvil-ingress-wait/.exec(list)?.[1] as string;
    await admin.client("KILL", "ID", id);
    expect((await timely(app, "two")).status).toBe(503);
    expect((await timely(app, "one")).status).toBe(503);
    expect(log.lines.join()).toContain("no longer has the event that was stored");
    expect(await admin.llen("{anvil}:webhooks:wait")).toBe(2);
  });

  it("goes on after the failover, at the new primary", async () => {
    const redis = await startRedisReplicas();
    const [old, next] = redis.nodes as [(typeof redis.nodes)[number], (typeof redis.nodes)[number]];
    const proxy = await startTcpProxy(old.port);
    const { app } = durableIngress(`redis://127.0.0.1:${proxy.port}`, "replica");
    const first = await timely(app, "one");
    await redis.caughtUp();
    await redis.promote(next);
    proxy.pointTo(next.port);
    await waitUntil(async () => (await timely(app, "two")).status === 202, { what: "it is stored there" });
    expect(await timely(app, "one")).toMatchObject({
      status: 202,
      body: { jobId: first.body.jobId, replayed: true },
    });
  });
});

describe('durability "replica" without one', () => {
  it("starts with a warning, and answers 503", async () => {
    const redis = await startRedis();
    const { app, log } = durableIngress(redis.url, "replica");
    await app.checkDurability();
    expect(log.lines.join()).toContain("no replica acknowledges");
    expect((await timely(app, "one")).status).toBe(503);
  });

  it("answers 503 by the deadline from a cluster of primaries, also when the slot has moved", async () => {
    const cluster = await startRedisCluster();
    const { app, log } = durableIngress(cluster.urls.join(), "replica");
    expect((await timely(app, "one")).status).toBe(503);
    expect(log.lines.join()).toContain("no replica acknowledged it in time");

    const nodes = cluster.urls.map(clientOf);
    const slot = Number(await nodes[0]?.cluster("KEYSLOT", "{anvil}"));
    const owner = Math.floor((slot * 3) / 16_384);
    const next = (owner + 1) % 3;
    await nodes[owner]?.flushall();
    const nextId = (await nodes[next]?.cluster("MYID")) as string;
    for (const node of nodes) await node.cluster("SETSLOT", slot, "NODE", nextId);
    log.lines.length = 0;
    expect((await timely(app, "two")).status).toBe(503);
    expect(await nodes[next]?.llen("{anvil}:webhooks:wait")).toBe(1);
    await waitUntil(
      async () => {
        await timely(app, "two");
        return log.lines.at(-1)?.includes("no replica acknowledged it in time");
      },
      { what: "the wait is led to the new node too" },
    );
    expect(await nodes[next]?.info("commandstats")).toContain("cmdstat_wait:");
  });
});

describe("a primary that hangs while it is waited for", () => {
  it("is answered for with 503 by the deadline, and then goes on", async () => {
    const redis = await startRedisReplicas();
    const { app } = durableIngress(redis.primary.url, "replica");
    expect((await timely(app, "one")).status).toBe(202);
    await redis.primary.pause();
    expect((await timely(app, "two")).status).toBe(503);
    await redis.primary.resume();
    await waitUntil(async () => (await timely(app, "two")).status === 202, { what: "it is stored" });
  });
});
