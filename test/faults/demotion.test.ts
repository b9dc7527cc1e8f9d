import { startRedisReplicas, startTcpProxy, type TestRedis, waitUntil } from "anvil-testkit";
import { expect, it } from "vitest";
import { look, nothingWrong, startTrouble } from "./stream.ts";

/** One name in front of primary and replica, as a DNS name or a load balancer is; old connections stay where they are. */
it("H-52: after a demotion READONLY is 503 and marks nothing, and all go to the new primary without a restart", async () => {
  const group = await startRedisReplicas({ appendonly: true });
  const [old, next] = group.nodes as [TestRedis, TestRedis];
  const proxy = await startTcpProxy(old.port);
  const trouble = startTrouble(`redis://127.0.0.1:${proxy.port}`);
  await trouble.work();
  const stream = trouble.stream(20);
  await stream.accepted(30);
  await stream.pause();
  await group.caughtUp();
  const before = proxy.accepted();
  const open = proxy.connections();

  await group.promote(next);
  const refused = await trouble.deliver("during");
  expect(refused.status).toBe(503);
  expect((await trouble.app.request("/readyz")).status).toBe(503);
  // Not marked seen: neither a job nor a deduplication key of it, on either side.
  const keys = await look(next.url).keys(`${trouble.prefix}:*`);
  expect(keys.filter((key) => key.includes(":wh_"))).toHaveLength(trouble.effects.size);
  expect(keys.filter((key) => key.includes(":de:"))).toHaveLength(trouble.effects.size);

  stream.resume();
  proxy.pointTo(next.port);
  const from = performance.now();
  expect(await trouble.accept("during")).toMatchObject({ replayed: false });
  await waitUntil(() => trouble.effects.get("during"), {
    what: "the worker has handled it",
    timeoutMs: 10_000,
  });
  expect(performance.now() - from).toBeLessThan(10_000);
  await stream.stop();
  expect(await trouble.settle(look(next.url))).toMatchObject(nothingWrong);
  // They left by themselves: nobody closed the connections to the old one.
  expect(proxy.accepted() - before).toBeGreaterThanOrEqual(open);
  expect(String(await look(old.url).client("LIST"))).not.toMatch(/name=anvil-(ingress|worker)/);
}, 30_000);

it("H-52: a worker that is idle when its primary is demoted takes what comes to the new one, without a restart", async () => {
  const group = await startRedisReplicas();
  const [old, next] = group.nodes as [TestRedis, TestRedis];
  const proxy = await startTcpProxy(old.port);
  const idle = startTrouble(`redis://127.0.0.1:${proxy.port}`);
  // As it is by default: no sweep or stall check comes along to find the connection useless.
  await idle.work({ lockMs: 30_000, stallCheckMs: 30_000, sweepMs: 30_000 });
  await idle.accept("before");
  await waitUntil(() => idle.effects.get("before"), { what: "it is handled" });
  await group.caughtUp();
  await group.promote(next);
  proxy.pointTo(next.port);
  const from = performance.now();
  await idle.accept("after");
  await waitUntil(() => idle.effects.get("after"), { what: "it is handled", timeoutMs: 15_000 });
  expect(performance.now() - from).toBeLessThan(10_000);
  expect(await idle.settle(look(next.url))).toMatchObject(nothingWrong);
}, 30_000);
