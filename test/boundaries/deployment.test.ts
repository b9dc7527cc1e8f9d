import { waitUntil } from "anvil-testkit";
import { Worker } from "bullmq";
import { Redis } from "ioredis";
import { describe, expect, it, onTestFinished } from "vitest";
import { silentLog } from "webhook-anvil";
import { createServer } from "webhook-anvil/ingress";
import { replayDeadLetter } from "webhook-anvil/replay";
import { type Chain, SECRET, type Stored, startChain } from "../chain/chain.ts";
import { DEAD, type Protocol, signature, startProtocol, WAITING } from "./protocol.ts";

describe("a deployment that changes the schedule", () => {
  it("lets jobs keep the one that they were accepted under, through retries and a replay; new ones get the new", async () => {
    const protocol = await startProtocol({ retry: { schedule: [300] } });
    const old = await protocol.deliver('{"old":true}');
    const next = createServer({
      ...{ secret: SECRET, redis: protocol.url, prefix: protocol.prefix, log: silentLog },
      retry: { schedule: [50, 100, 150] },
    });
    onTestFinished(() => next.close());
    const body = '{"new":true}';
    const answer = await next.request("/webhooks", { method: "POST", body, headers: signature(body) });
    const fresh = (await answer.json()) as Stored;

    const runs: { jobId: string; attempt: number; at: number }[] = [];
    await protocol.work(
      (event, { attempt }) => {
        runs.push({ jobId: event.id, attempt, at: performance.now() });
        throw new Error("boom");
      },
      // A worker has no say in it, whatever it is started with.
      { retry: { schedule: [1, 1, 1, 1, 1, 1] }, attempts: 9 } as never,
    );
    await dead(protocol, old.jobId);
    await dead(protocol, fresh.jobId);
    const runsOf = (jobId: string) => runs.filter((run) => run.jobId === jobId);
    const attemptsOf = (jobId: string) => runsOf(jobId).map(({ attempt }) => attempt);
    expect(attemptsOf(old.jobId)).toEqual([1, 2]);
    expect(attemptsOf(fresh.jobId)).toEqual([1, 2, 3, 4]);
    for (const [jobId, schedule] of [
      [old.jobId, [300]],
      [fresh.jobId, [50, 100, 150]],
    ] as const) {
      const times = runsOf(jobId).map(({ at }) => at);
      const gaps = times.slice(1).map((time, index) => time - (times[index] as number));
      for (const [index, gap] of gaps.entries()) {
        expect(gap).toBeGreaterThanOrEqual((schedule[index] as number) - 5);
      }
    }

    await replay(protocol, old.jobId);
    await waitUntil(async () => (await protocol.letter(old.jobId))?.failureContext.replays === 1, {
      what: "it is buried again",
    });
    expect(attemptsOf(old.jobId)).toEqual([1, 2, 1, 2]);
  });

  it("an event delivered again under the new one is still the first job", async () => {
    const chain = startChain({ retry: { schedule: [30] } });
    const { jobId } = await chain.deliver("{}");
    const before = await chain.redis.hget(chain.key(jobId), "opts");
    const next = createServer({
      ...{ secret: SECRET, redis: chain.url, prefix: chain.prefix, log: silentLog },
      retry: { schedule: [] },
    });
    onTestFinished(() => next.close());
    const answer = await next.request("/webhooks", { method: "POST", body: "{}", headers: signature("{}") });
    expect(await answer.json()).toEqual({ jobId, replayed: true });
    expect(await chain.redis.hget(chain.key(jobId), "opts")).toBe(before);
  });
});

describe("a worker that meets a job it can't read", () => {
  for (const [what, change] of [
    ["an envelope from the future", (data: object) => ({ ...data, v: 2, parts: [{ body: "é" }] })],
    ["an unknown encoding", (data: object) => ({ ...data, encoding: "zstd" })],
    ["no envelope at all", () => ({ order: 7 })],
    ["a list instead of one", () => [1, 2]],
  ] as const) {
    it(`${what}: a dead letter without a run, replayed byte for byte, and then read by who can`, async () => {
      const protocol = await startProtocol();
      const { redis, key } = protocol;
      const { jobId } = await protocol.deliver("{}");
      const stored = JSON.parse((await redis.hget(key(jobId), "data")) as string);
      // Spaces that no JSON.stringify would write: whoever parses and writes again is found out.
      const data = JSON.stringify(change(stored), null, 1);
      await redis.hset(key(jobId), "data", data);
      let runs = 0;
      const worker = await protocol.work(() => {
        runs += 1;
      });
      const letter = await dead(protocol, jobId);
      expect(letter.failureContext).toMatchObject({ attempts: 1, reason: "unreadable", replays: 0 });
      expect(runs).toBe(0);
      expect(await protocol.places(jobId)).toEqual(DEAD);
      // What it is worth is not lost on the worker: the next event is handled.
      const after = await protocol.deliver('{"after":true}');
      await protocol.settled(after.jobId, "completed");
      await worker.close();

      expect(await replay(protocol, jobId)).toMatchObject({ replayed: true });
      expect(await protocol.places(jobId)).toEqual(WAITING);
      expect(await redis.hget(key(jobId), "data")).toBe(data);
      // The version that can read it, as far as this queue is concerned.
      const connection = new Redis(protocol.url, { maxRetriesPerRequest: null });
      const read: unknown[] = [];
      const newer = new Worker("webhooks", async (job) => void read.push(job.data), {
        connection: connection as never,
        prefix: protocol.prefix,
      });
      await protocol.settled(jobId, "completed");
      expect(read).toEqual([JSON.parse(data)]);
      await newer.close();
      connection.disconnect();
    });
  }
});

function dead(chain: Chain, jobId: string) {
  return waitUntil(() => chain.letter(jobId), { what: `${jobId} is a dead letter` });
}

function replay({ url, prefix }: Protocol, jobId: string) {
  return replayDeadLetter(jobId, { redis: url, prefix, log: silentLog });
}
