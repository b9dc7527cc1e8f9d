import { setTimeout as delay } from "node:timers/promises";
import { startRedisCluster, type TestRedis, type TestRedisCluster, waitUntil } from "anvil-testkit";
import { expect, it } from "vitest";
import { allAtOnce, LIMIT_MS, look, nothingWrong, startTrouble } from "./stream.ts";

/** Three nodes that keep what they have, and that go on for the slots that are left when one is down. */
async function stage() {
  const cluster = await startRedisCluster({
    appendonly: true,
    args: ["--cluster-require-full-coverage", "no"],
  });
  const trouble = startTrouble(cluster.urls.join(","));
  await trouble.work({}, async ({ attempt }, event) => {
    if (attempt === 1 && event.endsWith("7")) throw new Error("the first attempt fails");
    await delay(20);
  });
  const stream = trouble.stream(20);
  await stream.accepted(20);
  const ours = await cluster.nodeOf(trouble.prefix);
  const others = cluster.nodes.filter((node) => node !== ours) as [TestRedis, TestRedis];
  return { cluster, trouble, stream, ours, others };
}

/** The one node that holds all of a test's keys, since they share a slot. */
async function ledgerOf(cluster: TestRedisCluster, prefix: string) {
  return look((await cluster.nodeOf(prefix)).url);
}

it("H-54: a cluster of three under a stream of events", async () => {
  await allAtOnce({
    "goes on when a node is killed that holds nothing of ours": (async () => {
      const { cluster, trouble, stream, ours, others } = await stage();
      await others[0].kill();
      const from = performance.now();
      await trouble.accept("right-after");
      expect(performance.now() - from).toBeLessThan(LIMIT_MS);
      await waitUntil(() => trouble.effects.get("right-after"), { what: "it is handled" });
      // The others notice after two seconds, and say so to who asks.
      await delay(2_500);
      await trouble.accept("when-all-know");
      await waitUntil(() => trouble.effects.get("when-all-know"), { what: "it is handled" });
      expect((await trouble.app.request("/readyz")).status).toBe(200);
      // One that comes new finds its way although the first node it is told of is the dead one.
      const urls = [others[0], ours, others[1]].map(({ url }) => url).join(",");
      await startTrouble(urls, { prefix: trouble.prefix }).accept("newcomer");
      expect(await trouble.accept("newcomer")).toMatchObject({ replayed: true });
      await stream.stop();
      await others[0].restart();
      expect(await trouble.settle(await ledgerOf(cluster, trouble.prefix))).toMatchObject({
        ...nothingWrong,
        forged: [],
      });
    })(),

    "answers 503 in time while the node is down that holds the queue, and goes on when it is back":
      (async () => {
        const { cluster, trouble, stream, ours } = await stage();
        await ours.kill();
        expect((await trouble.deliver("refused")).status).toBe(503);
        expect((await trouble.app.request("/readyz")).status).toBe(503);
        await ours.restart();
        const from = performance.now();
        await trouble.accept("refused");
        await waitUntil(() => trouble.effects.get("refused"), { what: "it is handled", timeoutMs: 10_000 });
        expect(performance.now() - from).toBeLessThan(10_000);
        await stream.stop();
        expect(await trouble.settle(await ledgerOf(cluster, trouble.prefix))).toMatchObject(nothingWrong);
      })(),

    "follows the queue's slot to another node, in the middle of the move and after it": (async () => {
      const { cluster, trouble, stream, others } = await stage();
      await cluster.moveSlot(trouble.prefix, others[0]);
      await trouble.accept("moved");
      await waitUntil(() => trouble.effects.get("moved"), { what: "it is handled", timeoutMs: 10_000 });
      await stream.stop();
      expect(await cluster.nodeOf(trouble.prefix)).toBe(others[0]);
      expect(await trouble.settle(await ledgerOf(cluster, trouble.prefix))).toMatchObject(nothingWrong);
    })(),
  });
}, 30_000);
