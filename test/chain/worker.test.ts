import { setTimeout as delay } from "node:timers/promises";
import { startRedis, waitUntil } from "anvil-testkit";
import { Redis } from "ioredis";
import { describe, expect, it } from "vitest";
import { RetryAfter, silentLog, Unrecoverable } from "webhook-anvil";
import { createWorker } from "webhook-anvil/worker";
import { type Chain, startChain } from "./chain.ts";

const dead = (chain: Chain, jobId: string) =>
  waitUntil(() => chain.letter(jobId), { what: `${jobId} is a dead letter` });
const inState = (chain: Chain, jobId: string, state: string) =>
  waitUntil(async () => (await chain.state(jobId)) === state, { what: `${jobId} is ${state}` });

/** Something that a handler waits for and the test lets go. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe("errors that steer", () => {
  it("Unrecoverable: one run, then a dead letter", async () => {
    const chain = startChain();
    let runs = 0;
    await chain.work(() => {
      runs += 1;
      throw new Unrecoverable("the account is gone");
    });
    const { jobId } = await chain.deliver("{}");
    const letter = await dead(chain, jobId);
    expect(letter.failureContext).toMatchObject({
      attempts: 1,
      reason: "unrecoverable",
      lastError: "the account is gone",
    });
    expect(runs).toBe(1);
  });

  it("RetryAfter: replaces one delay, and uses up one retry", async () => {
    const chain = startChain({ retry: { schedule: [60_000, 50] } });
    const startedAt: number[] = [];
    await chain.work(() => {
      startedAt.push(performance.now());
      if (startedAt.length === 1) throw new RetryAfter(150);
      throw new Error("boom");
    });
    const { jobId } = await chain.deliver("{}");
    const letter = await dead(chain, jobId);
    expect(letter.failureContext).toMatchObject({ attempts: 3, reason: "exhausted" });
    const first = (startedAt[1] as number) - (startedAt[0] as number);
    expect(first).toBeGreaterThanOrEqual(145);
    expect(first).toBeLessThan(1_000);
  });

  it("an enormous error leaves a small mark", async () => {
    const chain = startChain({ retry: { schedule: [50, 50, 50, 50, 50, 50] } });
    await chain.work(() => {
      throw new Error("x".repeat(100_000));
    });
    const { jobId } = await chain.deliver("{}");
    const letter = await dead(chain, jobId);
    expect(letter.failureContext.lastError).toMatch(/^x{2000}… \(98000 characters more\)$/);
    expect(await chain.redis.memory("USAGE", chain.key(jobId, "webhooks.dead"))).toBeLessThan(60_000);
  });

  it("what a handler returns is not kept", async () => {
    const chain = startChain();
    await chain.work(() => "y".repeat(100_000));
    const { jobId } = await chain.deliver("{}");
    await inState(chain, jobId, "completed");
    expect(await chain.redis.memory("USAGE", chain.key(jobId))).toBeLessThan(5_000);
    expect(await chain.redis.memory("USAGE", chain.key("events"))).toBeLessThan(20_000);
  });
});

describe("jobs that can't be run", () => {
  it("an envelope of a later version is a dead letter with its data untouched", async () => {
    const chain = startChain();
    const { jobId } = await chain.deliver("{}");
    const stored = JSON.parse((await chain.redis.hget(chain.key(jobId), "data")) as string);
    await chain.redis.hset(chain.key(jobId), "data", JSON.stringify({ ...stored, v: 2, news: [1] }));
    await chain.work(() => {});
    const letter = await dead(chain, jobId);
    expect(letter.failureContext).toMatchObject({ attempts: 1, reason: "unreadable" });
    expect(letter.failureContext.lastError).toContain("version 2");
    expect(letter.data).toMatchObject({ v: 2, news: [1] });
  });

  it("data that is no JSON is a dead letter with its bytes untouched, and the worker goes on", async () => {
    const chain = startChain();
    const broken = await chain.deliver('{"n":1}');
    const whole = await chain.deliver('{"n":2}');
    await chain.redis.hset(chain.key(broken.jobId), "data", '{"v":1,"source"');
    await chain.work(() => {});
    expect((await dead(chain, broken.jobId)).failureContext.reason).toBe("unreadable");
    expect(await chain.redis.hget(chain.key(broken.jobId, "webhooks.dead"), "data")).toBe('{"v":1,"source"');
    await inState(chain, whole.jobId, "completed");
  });

  it("an event that no handler takes is a dead letter at once, not a silent loss", async () => {
    const chain = startChain();
    await chain.work({ default: { "order.paid": () => {} } });
    const taken = await chain.deliver('{"type":"order.paid"}');
    const { jobId } = await chain.deliver('{"type":"order.refunded"}');
    expect((await dead(chain, jobId)).failureContext).toMatchObject({
      attempts: 1,
      reason: "unrecoverable",
      lastError: expect.stringContaining("No handler for default/order.refunded") as string,
    });
    await inState(chain, taken.jobId, "completed");
  });

  it("a job that carries no schedule runs by the default one", async () => {
    const chain = startChain();
    const { jobId } = await chain.deliver("{}");
    await chain.redis.hset(
      chain.key(jobId),
      "opts",
      JSON.stringify({ attempts: 5, backoff: { type: "schedule" } }),
    );
    await chain.work(() => {
      throw new Error("boom");
    });
    await inState(chain, jobId, "delayed");
    expect(await chain.redis.hget(chain.key(jobId), "delay")).toBe("1000");
  });
});

describe("stopping", () => {
  it("lets a running handler finish, and takes nothing new", async () => {
    const chain = startChain();
    const started = gate();
    const finish = gate();
    const runs: string[] = [];
    const worker = await chain.work(
      async (event) => {
        runs.push(event.id);
        started.open();
        await finish.opened;
      },
      { concurrency: 1 },
    );
    const first = await chain.deliver('{"n":1}');
    const second = await chain.deliver('{"n":2}');
    await started.opened;
    const closed = worker.close();
    finish.open();
    await closed;
    expect(runs).toEqual([first.jobId]);
    expect(await chain.state(first.jobId)).toBe("completed");
    expect(await chain.state(second.jobId)).toBe("waiting");
  });

  for (const [what, handler] of [
    [
      "hears the signal and throws",
      (signal: AbortSignal) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    ],
    ["doesn't hear it", () => new Promise(() => {})],
  ] as const) {
    it(`gives a job back whose handler ${what}, without costing it an attempt`, async () => {
      const chain = startChain();
      const started = gate();
      const worker = await chain.work(
        (_, { signal }) => {
          started.open();
          return handler(signal);
        },
        { drainMs: 300 },
      );
      const { jobId } = await chain.deliver("{}");
      await started.opened;
      const from = performance.now();
      await worker.close();
      expect(performance.now() - from).toBeLessThan(1_500);
      expect(await chain.state(jobId)).toBe("waiting");
      const job = await chain.redis.hgetall(chain.key(jobId));
      expect([job.atm, job.stc, job.failedReason]).toEqual([undefined, undefined, undefined]);
      expect(await chain.redis.exists(`${chain.key(jobId)}:lock`)).toBe(0);
      // The next worker starts it as what it still is: the first attempt.
      const attempts: number[] = [];
      await chain.work((__, { attempt }) => {
        attempts.push(attempt);
      });
      await inState(chain, jobId, "completed");
      expect(attempts).toEqual([1]);
    });
  }

  it("counts a handler as done that finishes between the signal and the end", async () => {
    const chain = startChain();
    const started = gate();
    const worker = await chain.work(
      (_, { signal }) => {
        started.open();
        return new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      },
      { drainMs: 300 },
    );
    const { jobId } = await chain.deliver("{}");
    await started.opened;
    await worker.close();
    expect(await chain.state(jobId)).toBe("completed");
  });

  it("ends in time while Redis hangs", async () => {
    const redis = await startRedis();
    const chain = startChain({ url: redis.url });
    const started = gate();
    const worker = createWorker(
      () => {
        started.open();
        return new Promise(() => {});
      },
      { redis: redis.url, prefix: chain.prefix, drainMs: 300, log: silentLog },
    );
    await worker.start();
    await chain.deliver("{}");
    await started.opened;
    await redis.pause();
    const from = performance.now();
    await worker.close();
    expect(performance.now() - from).toBeLessThan(6_000);
    await redis.resume();
  });

  it("ends a worker that still waits for its first connection", async () => {
    const redis = await startRedis();
    await redis.kill();
    const worker = createWorker(() => {}, { redis: redis.url, drainMs: 300, log: silentLog });
    const starting = worker.start();
    await worker.close();
    await starting;
  });

  it("may be asked for twice, before the start, and during it", async () => {
    const chain = startChain();
    const options = { redis: chain.url, prefix: chain.prefix, log: silentLog };
    const never = createWorker(() => {}, options);
    await never.close();
    const twice = createWorker(() => {}, options);
    await twice.start();
    await Promise.all([twice.close(), twice.close()]);
    const during = createWorker(() => {}, options);
    const starting = during.start();
    await during.close();
    await starting;
    await waitUntil(async () => !String(await chain.redis.client("LIST")).includes("name=anvil-worker"), {
      what: "no connection of a worker is left",
    });
  });
});

describe("a worker that loses its lock", () => {
  it("has its handler's signal aborted, and its late result changes nothing", async () => {
    const chain = startChain();
    const aborted = gate();
    const finish = gate();
    let runs = 0;
    const warnings: string[] = [];
    const warn = (_: object, message: string) => warnings.push(message);
    await chain.work(
      async (_, { signal }) => {
        runs += 1;
        if (runs > 1) return;
        signal.addEventListener("abort", aborted.open);
        await finish.opened;
        throw new Error("too late to matter");
      },
      { lockMs: 400, stallCheckMs: 60_000, log: { info() {}, warn, error: warn } },
    );
    const { jobId } = await chain.deliver("{}");
    await inState(chain, jobId, "active");
    await chain.redis.set(`${chain.key(jobId)}:lock`, "another worker's");
    await aborted.opened;
    finish.open();
    // Ours wrote nothing: the job is still the other's.
    const before = await chain.redis.hgetall(chain.key(jobId));
    const next = await chain.deliver('{"next":1}');
    await inState(chain, next.jobId, "completed");
    expect(await chain.redis.hgetall(chain.key(jobId))).toEqual(before);
    expect(await chain.state(jobId)).toBe("active");
    // It didn't even try: BullMQ's refusal would be a warning more.
    expect(warnings.filter((message) => message !== "worker error")).toEqual([
      "lost the lock of a running job; another worker runs it too",
    ]);
    expect(warnings.filter((message) => message === "worker error")).toHaveLength(1);
  });
});

describe("a job that comes back to the worker that still runs it", () => {
  it("is done after its second run, and not a dead letter after eleven", async () => {
    const redis = await startRedis();
    const chain = startChain({ url: redis.url });
    let runs = 0;
    const first = gate();
    const worker = createWorker(
      async () => {
        runs += 1;
        if (runs === 1) first.open();
        // Doesn't hear the signal; the second run goes on after the end of the first, for longer than a lock.
        await delay(runs === 1 ? 1_500 : 3_000);
      },
      {
        redis: redis.url,
        prefix: chain.prefix,
        lockMs: 1_000,
        stallCheckMs: 60,
        maxStalls: 3,
        log: silentLog,
      },
    );
    await worker.start();
    const { jobId } = await chain.deliver("{}");
    await first.opened;
    // The stall check finds this before the next renewal does.
    await chain.redis.del(`${chain.key(jobId)}:lock`);
    await waitUntil(async () => ["completed", "dead"].includes(await chain.state(jobId)), {
      what: "the job has ended",
      timeoutMs: 15_000,
    });
    expect(await chain.state(jobId)).toBe("completed");
    expect(runs).toBe(2);
    await worker.close();
  }, 30_000);
});

describe("a worker that Redis refuses for good", () => {
  it("says so from start(), and leaves no connection behind", async () => {
    const redis = await startRedis({
      args: ["--user", "limited", "on", ">made-up", "~*", "&*", "+@all", "-eval"],
    });
    const url = redis.url.replace("redis://", "redis://limited:made-up@");
    const worker = createWorker(() => {}, { redis: url, log: silentLog });
    await expect(worker.start()).rejects.toThrow(/NOPERM/);
    const client = new Redis(redis.url);
    await waitUntil(async () => !String(await client.client("LIST")).includes("name=anvil-worker"), {
      what: "no connection of the worker is left",
    });
    client.disconnect();
    await worker.close();
  });

  it("can't be started again after it was closed", async () => {
    const worker = createWorker(() => {}, { log: silentLog });
    await worker.close();
    await expect(worker.start()).rejects.toMatchObject({ code: "closed" });
  });
});

describe("Redis comes and goes under a worker", () => {
  it("starts without Redis and works once it is there", async () => {
    const redis = await startRedis({ appendonly: true });
    const chain = startChain({ url: redis.url });
    const { jobId } = await chain.deliver("{}");
    await redis.kill();
    const handled = gate();
    const worker = createWorker(() => handled.open(), {
      redis: redis.url,
      prefix: chain.prefix,
      log: silentLog,
    });
    const starting = worker.start();
    await redis.restart();
    await starting;
    await handled.opened;
    await inState(chain, jobId, "completed");
    await worker.close();
  });

  it("runs a waiting job and a delayed retry after a restart, without new traffic", async () => {
    const redis = await startRedis({ appendonly: true, args: ["--appendfsync", "always"] });
    const chain = startChain({ url: redis.url, retry: { schedule: [1_500] } });
    const runs: string[] = [];
    const worker = createWorker(
      (event) => {
        runs.push(event.text);
        if (runs.length === 1) throw new Error("first run fails");
      },
      { redis: redis.url, prefix: chain.prefix, log: silentLog, concurrency: 1 },
    );
    await worker.start();
    const retried = await chain.deliver('"retried"');
    await inState(chain, retried.jobId, "delayed");
    await redis.kill();
    await redis.restart();
    await waitUntil(async () => (await chain.state(retried.jobId)) === "completed", {
      what: "the delayed retry has run",
      timeoutMs: 15_000,
    });
    const after = await chain.deliver('"after"');
    await inState(chain, after.jobId, "completed");
    expect(runs).toEqual(['"retried"', '"retried"', '"after"']);
    await worker.close();
  });
});

describe("what another worker left behind", () => {
  it("is buried by the next sweep: a job that failed for good in a worker that died before it could", async () => {
    const chain = startChain();
    const { jobId } = await chain.deliver("{}");
    await chain.redis.lrem(chain.key("wait"), 0, jobId);
    await chain.redis.hset(chain.key(jobId), { finishedOn: 1, failedReason: "boom", atm: 5 });
    await chain.redis.zadd(chain.key("failed"), 1, jobId);
    await chain.work(() => {}, { sweepMs: 100 });
    expect((await dead(chain, jobId)).failureContext).toMatchObject({ attempts: 5, lastError: "boom" });
  });
});
