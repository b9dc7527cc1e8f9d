import { waitUntil } from "anvil-testkit";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import type { Log, LogFields, PastFailure } from "webhook-anvil";
import { replayDeadLetter } from "webhook-anvil/replay";
import { SECRET, startChain } from "../chain/chain.ts";

/** A log, and its audit lines. */
function auditedLog() {
  const lines: LogFields[] = [];
  const keep = (fields: LogFields) => void lines.push(fields);
  const log: Log = { info: keep, warn() {}, error() {} };
  return { log, audit: () => lines.filter((fields) => fields.audit === "replay") };
}

/** An event whose handler failed for good; from then on handlers succeed. */
async function buried(log: Log) {
  const chain = startChain({
    sources: { default: { provider: "hmac", secret: SECRET, onDeadRedelivery: "replay" } },
    retry: { schedule: [] },
    log,
  });
  let repaired = false;
  await chain.work(
    () => {
      if (!repaired) throw new Error("the bank is down");
    },
    { log, sweepMs: 50 },
  );
  const { jobId } = await chain.deliver("{}");
  await waitUntil(() => chain.letter(jobId), { what: "it is a dead letter" });
  repaired = true;
  return {
    chain,
    jobId,
    /** Who replayed it, as the job keeps it once it is done. */
    async kept(): Promise<PastFailure[]> {
      await waitUntil(async () => (await chain.state(jobId)) === "completed", { what: "it is done" });
      return JSON.parse((await chain.redis.hget(chain.key(jobId), "failures")) as string);
    },
  };
}

test("a person's replay: one line, and a record with the job, of who and why", async () => {
  const { log, audit } = auditedLog();
  const { chain, jobId, kept } = await buried(log);
  const place = { redis: chain.url, prefix: chain.prefix, log };
  const asked = { by: "jane", reason: "the bank\nis back" };
  expect(await replayDeadLetter(jobId, { ...place, ...asked })).toEqual({ replayed: true, jobId });
  const record = { at: expect.any(Number), by: "jane", reason: "the bank is back" };
  expect(await kept()).toMatchObject([{ lastError: "the bank is down", replayed: record }]);
  // In vain: nothing happened, so there is nothing to record.
  expect(await replayDeadLetter(jobId, place)).toEqual({ replayed: false, jobId, reason: "done" });
  expect(audit()).toEqual([{ audit: "replay", jobId, ...record }]);
});

test("an event that is delivered again: by redelivery", async () => {
  const { log, audit } = auditedLog();
  const { chain, jobId, kept } = await buried(log);
  expect(await chain.deliver("{}")).toEqual({ jobId, replayed: true });
  expect(await kept()).toMatchObject([{ replayed: { by: "redelivery" } }]);
  expect(await chain.deliver("{}")).toEqual({ jobId, replayed: true });
  expect(audit()).toEqual([{ audit: "replay", jobId, by: "redelivery", at: expect.any(Number) }]);
});

test("retry in a dashboard, which a sweep finishes: by dashboard", async () => {
  const { log, audit } = auditedLog();
  const { chain, jobId, kept } = await buried(log);
  const connection = new Redis(chain.url, { maxRetriesPerRequest: null });
  const queue = new Queue("webhooks.dead", { prefix: chain.prefix, connection: connection as never });
  onTestFinished(async () => {
    await queue.close();
    connection.disconnect();
  });
  await (await queue.getJob(jobId))?.retry();
  expect(await kept()).toMatchObject([{ replayed: { by: "dashboard" } }]);
  expect(audit()).toEqual([{ audit: "replay", jobId, by: "dashboard", at: expect.any(Number) }]);
});
