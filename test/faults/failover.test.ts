import { setTimeout as delay } from "node:timers/promises";
import { startRedisReplicas, startSentinels, waitUntil } from "anvil-testkit";
import { describe, expect, it } from "vitest";
import { LIMIT_MS, look, nothingWrong, startTrouble } from "./stream.ts";

/**
 * Replication is asynchronous: what the old primary acknowledged in its last moments may never have reached the new
 * one. So the stream pauses until the replica has everything, and is on again from the moment that the primary
 * breaks: what `durability: "memory"` promises. Jobs are running all the time.
 */
async function stage() {
  const group = await startRedisReplicas({ appendonly: true });
  const sentinels = await startSentinels(group);
  const trouble = startTrouble(sentinels.url);
  await trouble.work({}, async (_, event) => {
    if (event.startsWith("slow")) await delay(600);
  });
  const stream = trouble.stream(20);
  await stream.accepted(30);
  await stream.pause();
  for (let n = 0; n < 3; n++) await trouble.accept(`slow-${n}`);
  await group.caughtUp();
  return { group, sentinels, trouble, stream };
}

describe("a failover by sentinels under a stream of events", () => {
  for (const how of ["kill", "pause"] as const) {
    const what = how === "kill" ? "killed, and comes back" : "paused, and goes on as a stale primary";
    it(`the primary is ${what}: nothing is lost or doubled, and all goes on by itself`, async () => {
      const { group, sentinels, trouble, stream } = await stage();
      const old = group.primary;
      await old[how]();
      stream.resume();
      const next = await sentinels.successorOf(old);
      const from = performance.now();
      await trouble.accept("after");
      expect(performance.now() - from, "until a delivery is accepted").toBeLessThan(LIMIT_MS);
      await waitUntil(() => trouble.effects.get("after"), { what: "it is handled", timeoutMs: 8_000 });
      expect((await trouble.app.request("/readyz")).status).toBe(200);

      await (how === "kill" ? old.restart() : old.resume());
      await trouble.accept("after-return");
      await waitUntil(() => trouble.effects.get("after-return"), { what: "it is handled", timeoutMs: 8_000 });
      await stream.stop();
      expect(await trouble.settle(look(next.url))).toMatchObject(nothingWrong);
    }, 30_000);
  }
});

it('with durability "replica" the primary may be killed at any moment: nothing that was acknowledged is lost', async () => {
  const group = await startRedisReplicas({ appendonly: true, replicas: 2 });
  const sentinels = await startSentinels(group);
  const trouble = startTrouble(sentinels.url, { durability: "replica" });
  await trouble.work();
  const stream = trouble.stream(5);
  await stream.accepted(100);
  const old = group.primary;
  // In the middle of it: no pause, no waiting for the replicas.
  await old.kill();
  const next = await sentinels.successorOf(old);
  await trouble.accept("after");
  await waitUntil(() => trouble.effects.get("after"), { what: "it is handled", timeoutMs: 8_000 });
  await stream.stop();
  expect(await trouble.settle(look(next.url))).toMatchObject(nothingWrong);
}, 30_000);
