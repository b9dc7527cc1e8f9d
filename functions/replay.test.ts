import { startRedis, type TestRedis } from "anvil-testkit";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { bury, enqueue } from "webhook-anvil/queue";
import { someJob } from "../packages/anvil/src/queue/fixtures.ts";
import { handler } from "./replay.ts";

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});
beforeEach(() => {
  vi.stubEnv("REDIS_URL", server.url);
  vi.spyOn(console, "info").mockImplementation(() => {});
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

async function deadLetter(): Promise<string> {
  const job = someJob();
  await enqueue(redis, {}, job);
  await redis.lrem("{anvil}:webhooks:wait", 0, job.id);
  await redis.hset(`{anvil}:webhooks:${job.id}`, { finishedOn: 1, failedReason: "boom", atm: 5 });
  await redis.zadd("{anvil}:webhooks:failed", 1, job.id);
  await bury(redis, {}, job.id);
  return job.id;
}

describe("the replay function", () => {
  it("replays one letter, once", async () => {
    const jobId = await deadLetter();
    expect(await handler({ jobId })).toEqual({ replayed: true, jobId });
    expect(await handler({ jobId })).toEqual({ replayed: false, jobId, reason: "not_dead" });
  });

  it("keeps who asked for it and why with the job, and says so in one line of the log", async () => {
    const [first, second] = [await deadLetter(), await deadLetter()];
    await handler({ jobId: first, by: "jane\n", reason: `the bank is back ${"x".repeat(1_000)}` });
    await handler({ jobIds: [second] });
    const logged = vi.mocked(console.info).mock.calls.map(([line]) => line);
    expect(logged).toMatchObject([
      { audit: "replay", jobId: first, by: "jane", reason: expect.stringMatching(/^the bank is back x+$/) },
      { audit: "replay", jobId: second, by: "lambda" },
    ]);
    const kept = async (jobId: string) =>
      JSON.parse((await redis.hget(`{anvil}:webhooks:${jobId}`, "failures")) as string);
    expect((await kept(first))[0].replayed).toEqual({
      ...{ at: expect.any(Number), by: "jane", reason: logged[0].reason },
    });
    expect(logged[0].reason).toHaveLength(200);
    expect((await kept(second))[0].replayed.by).toBe("lambda");
  });

  it.each([{ by: 5 }, { reason: ["x"] }])("refuses %j, and replays nothing", async (asked) => {
    const jobId = await deadLetter();
    await expect(handler({ jobId, ...asked })).rejects.toThrow("by and reason: texts");
    expect(await redis.zscore("{anvil}:webhooks.dead:failed", jobId)).not.toBeNull();
  });

  it("replays several and says of each what became of it", async () => {
    const ids = [await deadLetter(), "wh_unknown", await deadLetter()];
    expect(await handler({ jobIds: ids })).toEqual({
      results: [
        { replayed: true, jobId: ids[0] },
        { replayed: false, jobId: "wh_unknown", reason: "not_found" },
        { replayed: true, jobId: ids[2] },
      ],
    });
  });

  for (const event of [
    {},
    { jobId: 1 },
    { jobIds: [] },
    { jobIds: [1] },
    { jobId: "a", jobIds: ["b"] },
    null,
    "wh_1",
  ]) {
    it(`refuses ${JSON.stringify(event)} and says how to invoke it`, async () => {
      await expect(handler(event as never)).rejects.toThrow(/Invoke with \{"jobId":"wh_…"\}/);
    });
  }

  it("names REDIS_URL when it isn't set", async () => {
    vi.stubEnv("REDIS_URL", "");
    await expect(handler({ jobId: "wh_1" })).rejects.toThrow("REDIS_URL is not set");
  });
});
