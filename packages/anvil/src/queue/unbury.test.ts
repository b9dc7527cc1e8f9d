import { sharedRedisUrl, snapshotKeys, uniquePrefix } from "anvil-testkit";
import { type Job, Queue } from "bullmq";
import { Redis } from "ioredis";
import { expect, it } from "vitest";
import { enqueue } from "./enqueue.ts";
import { someJob } from "./fixtures.ts";
import { retryUnfinished } from "./unbury.ts";

it("the retry at the end of a replay leaves what job.retry leaves, key for key", async () => {
  const redis = new Redis(sharedRedisUrl(), { maxRetriesPerRequest: null });
  const [ours, theirs] = [uniquePrefix(), uniquePrefix()];
  const job = someJob();
  for (const prefix of [ours, theirs]) {
    await enqueue(redis, { prefix }, job);
    await redis.lrem(`${prefix}:webhooks:wait`, 0, job.id);
    await redis.zadd(`${prefix}:webhooks:failed`, 1, job.id);
    const failed = { finishedOn: 1, processedOn: 1, failedReason: "boom", atm: 3, ats: 3 };
    await redis.hset(`${prefix}:webhooks:${job.id}`, failed);
  }
  await retryUnfinished(redis, { prefix: ours }, job.id);
  const queue = new Queue("webhooks", { prefix: theirs, connection: redis as never, skipMetasUpdate: true });
  const theirJob = (await queue.getJob(job.id)) as Job;
  await theirJob.retry("failed", { resetAttemptsMade: true, resetAttemptsStarted: true });

  const contents = async (prefix: string) =>
    JSON.stringify(await snapshotKeys(sharedRedisUrl(), prefix))
      .replaceAll(prefix, "{prefix}")
      .replace(/"\d{13}-\d+"/g, '"<stream id>"');
  expect(JSON.parse(await contents(ours))).toEqual(JSON.parse(await contents(theirs)));
  await queue.close();
  redis.disconnect();
});
