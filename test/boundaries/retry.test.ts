import { startRedis, waitUntil } from "anvil-testkit";
import { describe, expect, it } from "vitest";
import { ACTIVE, DELAYED, DONE, diedAt, type Protocol, sha256, startProtocol } from "./protocol.ts";

describe("a worker that dies around a run and its end", () => {
  const once = '{"charge":"key","text":"é😀"}';
  const failsFirst = '{"charge":"key","fail":1,"text":"é😀"}';
  const stepped = '{"charge":"step","fail":1}';
  for (const [dieAt, body, left, attempts, charges] of [
    ["before:handler-effect", once, ACTIVE, [1, 1], 1],
    ["after:handler-effect", once, ACTIVE, [1, 1], 1],
    ["before:complete", once, ACTIVE, [1, 1], 1],
    ["after:complete", once, DONE, [1], 1],
    ["before:retry", failsFirst, ACTIVE, [1, 1, 2], 1],
    ["after:retry", failsFirst, DELAYED, [1, 2], 1],
    // A step that was not stored yet runs again, as its documentation says; one that was, never.
    ["before:step", stepped, ACTIVE, [1, 1, 2], 2],
    ["after:step", stepped, ACTIVE, [1, 1, 2], 1],
  ] as const) {
    it(`${dieAt}: attempts ${attempts.join(", ")}, charged ${charges === 1 ? "once" : "twice"}`, async () => {
      const protocol = await startProtocol({ retry: { schedule: [30] } });
      const { jobId } = await protocol.deliver(body);
      await diedAt(protocol.worker(dieAt), dieAt);
      expect(await protocol.places(jobId)).toEqual(left);
      expect(await protocol.bodyDigest(jobId)).toBe(sha256(body));

      await protocol.nextWorker();
      await protocol.settled(jobId, "completed");
      expect(await protocol.places(jobId)).toEqual(DONE);
      expect(await protocol.bodyDigest(jobId)).toBe(sha256(body));
      expect(await protocol.effects("charged")).toEqual(Array(charges).fill(`charged ${jobId}`));
      expect(await protocol.effects("started")).toEqual(attempts.map((n) => `started ${jobId} ${n}`));
    });
  }
});

it("retries that wait while Redis is killed and every worker too: each runs once, and not before its time", async () => {
  const redis = await startRedis({ appendonly: true, args: ["--appendfsync", "always"] });
  const protocol = await startProtocol({ url: redis.url, retry: { schedule: [2_500] } });
  const jobs = await deliverMany(protocol, 10, '"charge":"key","fail":1');
  const worker = protocol.worker();
  await Promise.all(jobs.map((jobId) => protocol.settled(jobId, "delayed")));
  const due = await Promise.all(jobs.map((jobId) => dueAt(protocol, jobId)));
  await redis.kill();
  await worker.kill("SIGKILL");
  await redis.restart();
  expect(await Promise.all(jobs.map((jobId) => dueAt(protocol, jobId)))).toEqual(due);
  await protocol.nextWorker();
  await Promise.all(jobs.map((jobId) => protocol.settled(jobId, "completed")));
  for (const [index, jobId] of jobs.entries()) {
    const startedAt = Number(await protocol.redis.hget(protocol.key(jobId), "processedOn"));
    expect(startedAt).toBeGreaterThanOrEqual(due[index] as number);
    expect(await protocol.places(jobId)).toEqual(DONE);
  }
  expect((await protocol.effects("charged")).sort()).toEqual(jobs.map((jobId) => `charged ${jobId}`).sort());
  expect(await protocol.effects("started")).toHaveLength(20);
});

it("all workers gone for minutes: what ran, what waited, what was due and what failed all end once", async () => {
  const protocol = await startProtocol({ retry: { schedule: [300_000] } });
  const { redis, key } = protocol;
  const delayed = await deliverMany(protocol, 10, '"charge":"key","fail":1');
  const worker = protocol.worker();
  await Promise.all(delayed.map((jobId) => protocol.settled(jobId, "delayed")));
  const active = await deliverMany(protocol, 10, '"charge":"key","takeMs":1000');
  await Promise.all(active.map((jobId) => protocol.settled(jobId, "active")));
  const waiting = await deliverMany(protocol, 30, '"charge":"key"');
  await worker.kill("SIGKILL");
  const failed = await deliverMany(protocol, 5, '"charge":"key","worn":true');
  for (const jobId of failed) {
    await redis.lrem(key("wait"), 0, jobId);
    await redis.hset(key(jobId), { finishedOn: Date.now(), failedReason: "boom", atm: 2 });
    await redis.zadd(key("failed"), Date.now(), jobId);
  }
  // Ten minutes later: every lock has ended, every retry was due long ago. Waiting so long shows no more.
  for (const jobId of active) await redis.del(`${key(jobId)}:lock`);
  for (const jobId of delayed) await redis.zincrby(key("delayed"), -600_000 * 4096, jobId);

  const from = performance.now();
  await Promise.all([protocol.nextWorker(), protocol.nextWorker()]);
  const jobs = [...delayed, ...active, ...waiting];
  await Promise.all(jobs.map((jobId) => protocol.settled(jobId, "completed")));
  await Promise.all(failed.map((jobId) => protocol.settled(jobId, "dead")));
  expect(performance.now() - from).toBeLessThan(8_000);
  for (const jobId of jobs) expect(await protocol.places(jobId)).toEqual(DONE);
  expect((await protocol.effects("charged")).sort()).toEqual(jobs.map((jobId) => `charged ${jobId}`).sort());
});

async function deliverMany(protocol: Protocol, count: number, wishes: string): Promise<string[]> {
  const bodies = Array.from({ length: count }, (_, n) => `{${wishes},"n":${n}}`);
  return (await Promise.all(bodies.map((body) => protocol.deliver(body)))).map(({ jobId }) => jobId);
}

/** BullMQ keeps the moment in the upper digits of the score. */
async function dueAt({ redis, key }: Protocol, jobId: string): Promise<number> {
  return await waitUntil(async () => Math.floor(Number(await redis.zscore(key("delayed"), jobId)) / 4096), {
    what: `${jobId} has a time`,
  });
}
