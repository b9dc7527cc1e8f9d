import { sharedRedisUrl, snapshotKeys, uniquePrefix } from "anvil-testkit";
import { type Job, Queue } from "bullmq";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BACKOFF_TYPE, enqueue, jobName, type NewJob, STACK_TRACES_KEPT } from "./enqueue.ts";
import { someJob } from "./fixtures.ts";
import { retryUnfinished } from "./unbury.ts";

/**
 * The ingress runs BullMQ's add script without a Queue, and the replay runs its retry script. Both must leave in
 * Redis exactly what the pinned BullMQ leaves, key for key; an upgrade that changes a script fails here.
 */
const queue = "webhooks";
let redis: Redis;
const queues: Queue[] = [];

beforeAll(() => {
  redis = new Redis(sharedRedisUrl(), { maxRetriesPerRequest: null });
});
afterAll(async () => {
  await Promise.all(queues.map((each) => each.close()));
  redis.disconnect();
});

function bullQueue(prefix: string): Queue {
  // Without the metadata that a Queue writes for itself: nobody reads it, and the ingress has none to write.
  const created = new Queue(queue, { prefix, connection: redis as never, skipMetasUpdate: true });
  queues.push(created);
  return created;
}

function addWithBullMq(target: Queue, job: NewJob): Promise<Job> {
  return target.add(jobName(job.envelope), job.envelope, {
    jobId: job.id,
    timestamp: job.envelope.receivedAt,
    attempts: job.schedule.length + 1,
    backoff: { type: BACKOFF_TYPE, delays: job.schedule } as never,
    deduplication: { id: job.envelope.key, ttl: job.dedupeMs },
    stackTraceLimit: STACK_TRACES_KEPT,
  });
}

/** What stands under a prefix, without the prefix itself and the ids that Redis gives stream entries. */
async function contents(prefix: string): Promise<Record<string, unknown>> {
  const snapshot = await snapshotKeys(sharedRedisUrl(), prefix);
  const text = JSON.stringify(snapshot)
    .replaceAll(prefix, "{prefix}")
    .replace(/"\d{13}-\d+"/g, '"<stream id>"');
  const keys = JSON.parse(text) as Record<string, { type: string; value: Record<string, unknown> }>;
  for (const [key, { value }] of Object.entries(keys)) {
    // The order of an object's keys is all that may differ in the stored options.
    if (/:wh_[0-9a-f]{32}$/.test(key)) {
      const options = JSON.parse(value.opts as string) as Record<string, unknown>;
      // Queue.add stores the timestamp among the options as well; nothing reads it there.
      delete options.timestamp;
      value.opts = options;
    }
  }
  return keys;
}

async function expiry(prefix: string): Promise<number> {
  const [key] = await redis.keys(`${prefix.replace(/[[\]]/g, "\\$&")}:${queue}:de:*`);
  return redis.pttl(key as string);
}

describe("enqueue leaves what Queue.add leaves", () => {
  it("for a new event, with the same expiry of its deduplication key", async () => {
    const [ours, theirs] = [uniquePrefix(), uniquePrefix()];
    const job = someJob();
    expect(await enqueue(redis, { prefix: ours }, job)).toEqual({ jobId: job.id, replayed: false });
    await addWithBullMq(bullQueue(theirs), job);
    expect(await contents(ours)).toEqual(await contents(theirs));
    expect(Object.keys(await contents(ours)).length).toBeGreaterThanOrEqual(6);
    expect(Math.abs((await expiry(ours)) - (await expiry(theirs)))).toBeLessThan(2_000);
    expect(await expiry(ours)).toBeGreaterThan(50_000);
  });

  it("for an event that is delivered again", async () => {
    const [ours, theirs] = [uniquePrefix(), uniquePrefix()];
    const job = someJob();
    const again = { ...job, id: someJob().id };
    await enqueue(redis, { prefix: ours }, job);
    expect(await enqueue(redis, { prefix: ours }, again)).toEqual({ jobId: job.id, replayed: true });
    const target = bullQueue(theirs);
    await addWithBullMq(target, job);
    expect((await addWithBullMq(target, again)).id).toBe(job.id);
    expect(await contents(ours)).toEqual(await contents(theirs));
  });

  it("for the same call again after a lost answer, which is not a repeated delivery", async () => {
    const [ours, theirs] = [uniquePrefix(), uniquePrefix()];
    const job = someJob();
    await enqueue(redis, { prefix: ours }, job);
    expect(await enqueue(redis, { prefix: ours }, job)).toEqual({ jobId: job.id, replayed: false });
    const target = bullQueue(theirs);
    await addWithBullMq(target, job);
    await addWithBullMq(target, job);
    expect(await contents(ours)).toEqual(await contents(theirs));
  });

  it("into a paused queue", async () => {
    const [ours, theirs] = [uniquePrefix(), uniquePrefix()];
    const job = someJob();
    for (const prefix of [ours, theirs]) await bullQueue(prefix).pause();
    await enqueue(redis, { prefix: ours }, job);
    await addWithBullMq(bullQueue(theirs), job);
    expect(await contents(ours)).toEqual(await contents(theirs));
  });

  it("for bodies that are hard to carry", async () => {
    for (const body of ["", "\u0000", "\ufeff{}", "a\r\nb\u2028c", "😀", '"\\ud800"', "x".repeat(200_000)]) {
      const [ours, theirs] = [uniquePrefix(), uniquePrefix()];
      const job = someJob({ body });
      await enqueue(redis, { prefix: ours }, job);
      await addWithBullMq(bullQueue(theirs), job);
      expect(await contents(ours)).toEqual(await contents(theirs));
    }
  });
});

describe("the retry at the end of a replay", () => {
  it("leaves what job.retry leaves", async () => {
    const [ours, theirs] = [uniquePrefix(), uniquePrefix()];
    const job = someJob();
    for (const prefix of [ours, theirs]) {
      await enqueue(redis, { prefix }, job);
      const key = `${prefix}:${queue}:${job.id}`;
      await redis.lrem(`${prefix}:${queue}:wait`, 0, job.id);
      await redis.zadd(`${prefix}:${queue}:failed`, 1, job.id);
      await redis.hset(key, { finishedOn: 1, processedOn: 1, failedReason: "boom", atm: 3, ats: 3 });
    }
    await retryUnfinished(redis, { prefix: ours }, job.id);
    const theirJob = (await bullQueue(theirs).getJob(job.id)) as Job;
    await theirJob.retry("failed", { resetAttemptsMade: true, resetAttemptsStarted: true });
    expect(await contents(ours)).toEqual(await contents(theirs));
  });
});

describe("poisoned options", () => {
  // BullMQ's script stores the deduplication key before it stumbles over such an option, so that every
  // redelivery counts as a duplicate of a job that doesn't exist.
  for (const [what, job] of [
    ["NaN in the schedule", someJob({}, { schedule: [Number.NaN] })],
    ["Infinity in the schedule", someJob({}, { schedule: [Number.POSITIVE_INFINITY] })],
    ["a window of 0", someJob({}, { dedupeMs: 0 })],
    ["a window that is no whole number", someJob({}, { dedupeMs: 1.5 })],
    ["a time that is no number", someJob({ receivedAt: Number.NaN })],
    ["a key that is no sha256", someJob({ key: "undefined" })],
  ] as const) {
    it(`never reach Redis: ${what}`, async () => {
      const prefix = uniquePrefix();
      await expect(enqueue(redis, { prefix }, job)).rejects.toThrow(TypeError);
      expect(await snapshotKeys(sharedRedisUrl(), prefix)).toEqual({});
    });
  }
});
