import { startRedis, waitUntil } from "anvil-testkit";
import { describe, expect, it } from "vitest";
import { startChain } from "../chain/chain.ts";

/** Shortened to what fits a test: 3,000 jobs for 20,000, 100 failing ones for 1,000. The bound is for each job. */
describe("H-50: what stays in Redis of jobs that are done or dead", () => {
  it("H-50 3,000 jobs that return 10 kB each: their results are not kept, and the queue stays within its bound", async () => {
    const redis = await startRedis();
    const chain = startChain({ url: redis.url });
    const usedBytes = async () => {
      const info = await chain.redis.info("memory");
      return Number(/used_memory_dataset:(\d+)/.exec(info)?.[1]);
    };
    const before = await usedBytes();
    let handled = 0;
    const worker = await chain.work(
      () => {
        handled += 1;
        return "r".repeat(10_000);
      },
      { concurrency: 50, keepCompleted: { count: 1_000, ageMs: 86_400_000 } },
    );
    for (let round = 0; round < 15; round++) {
      await Promise.all(Array.from({ length: 200 }, (_, n) => chain.deliver(`{"n":${round * 200 + n}}`)));
    }
    await waitUntil(() => handled === 3_000, { what: "all are handled", timeoutMs: 15_000 });
    await worker.close();
    expect(await chain.redis.zcard(chain.key("completed"))).toBe(1_000);
    // docs/run-it.md: 2.6 kB for each of the 1,000 that are kept, 0.2 kB for each event that is remembered, and
    // the list of events, 1 MB at most. The results alone would be 30 MB, or 100 MB in BullMQ's list of events.
    const used = (await usedBytes()) - before;
    expect(used).toBeLessThan(1_000 * 2_600 + 3_000 * 200 + 1_000_000);
    expect(await chain.redis.xlen(chain.key("events"))).toBeLessThan(12_000);
  });

  it("H-50 100 jobs whose every attempt fails with 100 kB of error: small dead letters that still say why", async () => {
    const redis = await startRedis();
    const chain = startChain({ url: redis.url, retry: { schedule: [10, 10, 10, 10] } });
    const worker = await chain.work(
      (_, { attempt }) => {
        throw new Error(`attempt ${attempt}: ${"e".repeat(100_000)}`);
      },
      { concurrency: 20 },
    );
    const jobs = await Promise.all(Array.from({ length: 100 }, (_, n) => chain.deliver(`{"n":${n}}`)));
    await waitUntil(async () => (await chain.redis.zcard(chain.key("failed", "webhooks.dead"))) === 100, {
      what: "all are dead letters",
      timeoutMs: 15_000,
    });
    await worker.close();
    for (const { jobId } of jobs) {
      expect(await chain.redis.memory("USAGE", chain.key(jobId, "webhooks.dead"))).toBeLessThan(60_000);
    }
    const letter = await chain.letter(jobs[0]?.jobId as string);
    expect(letter?.failureContext.lastError).toMatch(/^attempt 5: e+… \(\d+ characters more\)$/);
    expect(letter?.stacktrace.length).toBeLessThanOrEqual(3);
  });
});
