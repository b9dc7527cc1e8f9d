import { setTimeout as delay } from "node:timers/promises";
import { startRedis, startTcpProxy, type TcpProxy, type TestRedis, waitUntil } from "anvil-testkit";
import { expect, it } from "vitest";
import { allAtOnce, look, nothingWrong, startTrouble, type Trouble } from "./stream.ts";

const RETRY_DELAY_MS = 5_000;

type Stage = { readonly redis: TestRedis; readonly proxy: TcpProxy; readonly trouble: Trouble };

/**
 * An idle worker whose next work is a retry in 5 s, and one event that comes while it can't see Redis. No traffic
 * after that, and sweep and stall check as rare as by default: nothing else wakes it.
 */
async function outage(fault: (stage: Stage) => Promise<void>, retryDelayMs = RETRY_DELAY_MS): Promise<void> {
  const redis = await startRedis({ appendonly: true });
  const proxy = await startTcpProxy(redis.port);
  const trouble = startTrouble(redis.url, { retry: { schedule: [retryDelayMs] } });
  await trouble.work(
    { redis: `redis://127.0.0.1:${proxy.port}`, lockMs: 30_000, stallCheckMs: 30_000, sweepMs: 30_000 },
    async ({ attempt }, event) => {
      if (event === "retried" && attempt === 1) throw new Error("the first attempt fails");
    },
  );
  await trouble.accept("retried");
  const ledger = look(redis.url);
  await waitUntil(() => ledger.zcard(`${trouble.prefix}:webhooks:delayed`), { what: "the retry is waiting" });

  const from = performance.now();
  await fault({ redis, proxy, trouble });
  await waitUntil(() => trouble.effects.size === 2, {
    what: "the retry and the waiting event have run",
    timeoutMs: retryDelayMs + 15_000,
  });
  expect(performance.now() - from).toBeLessThan(retryDelayMs + 15_000);
  expect(await trouble.settle(ledger)).toMatchObject({ accepted: 2, done: 2, ...nothingWrong });
  // The retry ran as the second attempt, and the event that waited as its first.
  expect([...trouble.runs].sort()).toEqual(["retried 2", "waiting 1"]);
}

it("H-51: an idle worker wakes up for a delayed retry and a waiting event after an outage", async () => {
  await allAtOnce({
    "Redis stops for 3 s": outage(async ({ redis, proxy, trouble }) => {
      proxy.refuse();
      proxy.cut();
      await trouble.accept("waiting");
      await redis.kill();
      proxy.heal();
      await delay(3_000);
      await redis.restart();
    }),
    "CLIENT KILL TYPE normal": outage(async ({ redis, trouble }) => {
      const client = look(redis.url);
      const waiting = trouble.accept("waiting");
      for (let n = 0; n < 5; n++) {
        await client.call("CLIENT", "KILL", "TYPE", "normal");
        await delay(50);
      }
      await waiting;
    }),
    // A connection that waits for longer than any other may be silent: it must not be taken for dead.
    nothing: outage(async ({ proxy, trouble }) => {
      await trouble.accept("waiting");
      await waitUntil(() => trouble.effects.size === 1, { what: "the event is handled" });
      const accepted = proxy.accepted();
      await waitUntil(() => trouble.effects.size === 2, { what: "the retry has run", timeoutMs: 12_000 });
      expect(proxy.accepted(), "connections made so far").toBe(accepted);
    }, 9_500),
    // Its connections never carry anything again, so it ends by the worker's own limits: BullMQ gives its blocking
    // connection a second more than it asked for, and then a socket that owes an answer for 8 s (redis-clients.ts) is given up.
    "a network that swallows everything": outage(async ({ proxy, trouble }) => {
      proxy.blackHole();
      await trouble.accept("waiting");
    }),
  });
}, 40_000);
