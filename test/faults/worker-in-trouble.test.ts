import { setTimeout as delay } from "node:timers/promises";
import { askRedis } from "anvil-bootstrap/redis-probe";
import { startRedis, type TestRedis, waitUntil } from "anvil-testkit";
import type { Redis } from "ioredis";
import { expect, it } from "vitest";
import { allAtOnce, look, nothingWrong, startTrouble, type Trouble } from "./stream.ts";

/**
 * What the ingress meets in redis-in-trouble.test.ts, met by a worker: a handler is running when the trouble begins,
 * two events wait behind it and one for its retry. The worker survives, goes on by itself when it is over, and no
 * attempt is burnt.
 */
async function through(
  redis: TestRedis,
  trouble: Trouble,
  url: string,
  begin: (client: Redis) => Promise<() => Promise<void>>,
): Promise<void> {
  const ledger = look(redis.url);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let running = false;
  await trouble.work(
    { redis: url, concurrency: 1, lockMs: 1_000, stallCheckMs: 250 },
    async ({ attempt }, event) => {
      if (event === "retried" && attempt === 1) throw new Error("the first attempt fails");
      if (event !== "running") return;
      running = true;
      await held;
    },
  );
  await trouble.accept("retried");
  await waitUntil(() => ledger.zcard(`${trouble.prefix}:webhooks:delayed`), { what: "the retry is waiting" });
  await trouble.accept("running");
  await waitUntil(() => running, { what: "a handler is running" });
  for (const event of ["first", "second"]) await trouble.accept(event);

  const end = await begin(ledger);
  // It is done in the middle of it, and the worker has to say so to a Redis that won't hear it.
  release();
  await delay(500);
  await end();

  const balance = await trouble.settle(ledger);
  expect(balance).toMatchObject({ accepted: 4, done: 4, dead: 0, ...nothingWrong });
  for (const event of ["first", "second"]) expect(trouble.runs).toContain(`${event} 1`);
  expect(trouble.runs.filter((run) => run.startsWith("retried"))).toEqual(["retried 2"]);
  // Nothing else happened to it: at most it ran again as the same attempt.
  for (const run of trouble.runs.filter((each) => each.startsWith("running"))) expect(run).toBe("running 1");
  const next = await trouble.accept("afterwards");
  await waitUntil(() => trouble.effects.get("afterwards"), { what: `${next.jobId} is handled` });
}

it("a worker survives a Redis that is loading, full, read-only or refuses its scripts, and burns no attempt", async () => {
  await allAtOnce({
    "is loading its data": (async () => {
      const redis = await startRedis({
        args: ["--loading-process-events-interval-bytes", "1024", "--enable-debug-command", "yes"],
      });
      await through(redis, startTrouble(redis.url), redis.url, async (client) => {
        const fill = client.pipeline();
        for (let n = 0; n < 300; n++) fill.set(`filler:${n}`, "x".repeat(2_000));
        await fill.exec();
        await client.config("SET", "key-load-delay", "5000");
        const loaded = client.call("DEBUG", "RELOAD");
        await waitUntil(
          () =>
            askRedis(redis.port, ["PING"]).then(
              () => false,
              (error: Error) => /^LOADING/.test(error.message),
            ),
          { what: "Redis answers LOADING", intervalMs: 5 },
        );
        return async () => {
          await loaded;
        };
      });
    })(),

    "is full (OOM)": (async () => {
      const redis = await startRedis();
      await through(redis, startTrouble(redis.url), redis.url, async (client) => {
        await client.config("SET", "maxmemory", "1");
        return async () => {
          await client.config("SET", "maxmemory", "0");
        };
      });
    })(),

    "takes no writes (READONLY)": (async () => {
      const redis = await startRedis();
      await through(redis, startTrouble(redis.url), redis.url, async (client) => {
        // A replica of nobody: its primary is a port where nothing listens.
        await client.replicaof("127.0.0.1", 1);
        return async () => {
          await client.replicaof("NO", "ONE");
        };
      });
    })(),

    "refuses its scripts (NOPERM)": (async () => {
      const redis = await startRedis({ args: ["--user", "worker", "on", ">made-up", "~*", "&*", "+@all"] });
      const url = redis.url.replace("//", "//worker:made-up@");
      await through(redis, startTrouble(redis.url), url, async (client) => {
        await client.call("ACL", "SETUSER", "worker", "-eval", "-evalsha");
        return async () => {
          await client.call("ACL", "SETUSER", "worker", "+@all");
        };
      });
    })(),
  });
});
