import { startRedis, type TestRedis } from "anvil-testkit";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { enqueue } from "webhook-anvil/queue";
import { someJob } from "../packages/anvil/src/queue/fixtures.ts";
import { embeddedMetrics, handler } from "./pulse.ts";

let server: TestRedis;
let redis: Redis;
const printed: string[] = [];
beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});
beforeEach(() => {
  printed.length = 0;
  vi.stubEnv("REDIS_URL", server.url);
  vi.stubEnv("ANVIL_STAGE", "jane");
  vi.spyOn(console, "info").mockImplementation(() => {});
  vi.spyOn(console, "warn").mockImplementation(() => {});
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed.push(String(text));
    return true;
  });
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** What the handler published, as CloudWatch would find it. */
function published(): Record<string, unknown>[] {
  return printed.filter((line) => line.includes("_aws")).map((line) => JSON.parse(line));
}

describe("pulse", () => {
  it("buries what nobody lived to bury, then publishes the queue as it is", async () => {
    const [waiting, failed] = [someJob(), someJob()];
    await enqueue(redis, {}, waiting);
    await redis.hset(`{anvil}:webhooks:${waiting.id}`, "timestamp", Date.now() - 90_000);
    await enqueue(redis, {}, failed);
    await redis.lrem("{anvil}:webhooks:wait", 0, failed.id);
    await redis.hset(`{anvil}:webhooks:${failed.id}`, { finishedOn: 1, failedReason: "boom", atm: 5 });
    await redis.zadd("{anvil}:webhooks:failed", 1, failed.id);

    await handler({}, { getRemainingTimeInMillis: () => 50_000 });

    expect(await redis.zscore("{anvil}:webhooks.dead:failed", failed.id)).not.toBeNull();
    const [metrics, ...more] = published();
    expect(more).toEqual([]);
    expect(metrics).toMatchObject({
      ...{ Stage: "jane", Queue: "webhooks" },
      ...{ Waiting: 1, Active: 0, Delayed: 0, Dead: 1, Unburied: 0 },
    });
    expect(metrics?.OldestWaitingSeconds).toBeGreaterThanOrEqual(90);
    expect(metrics?.OldestWaitingSeconds).toBeLessThan(150);
  });

  it("H-56 fails in time when Redis isn't there, says so, and publishes nothing", async () => {
    vi.stubEnv("REDIS_URL", "redis://127.0.0.1:1");
    const soon = { getRemainingTimeInMillis: () => 5_300 };
    await expect(handler({}, soon)).rejects.toThrow("Redis at 127.0.0.1:1");
    expect(published()).toEqual([]);
  });
});

describe("embedded metrics", () => {
  it("declare every value that they hold, with its unit and dimensions", () => {
    const stats = {
      waiting: 1,
      active: 2,
      delayed: 3,
      completed: 4,
      unburied: 5,
      dead: 6,
      oldestWaitingMs: 7_500,
    };
    expect(embeddedMetrics(stats, { Stage: "jane", Queue: "webhooks" }, 1_000)).toEqual({
      _aws: {
        Timestamp: 1_000,
        CloudWatchMetrics: [
          {
            Namespace: "Anvil",
            Dimensions: [["Stage", "Queue"]],
            Metrics: [
              { Name: "OldestWaitingSeconds", Unit: "Seconds" },
              { Name: "Waiting", Unit: "Count" },
              { Name: "Active", Unit: "Count" },
              { Name: "Delayed", Unit: "Count" },
              { Name: "Dead", Unit: "Count" },
              { Name: "Unburied", Unit: "Count" },
            ],
          },
        ],
      },
      ...{ Stage: "jane", Queue: "webhooks" },
      ...{ OldestWaitingSeconds: 7.5, Waiting: 1, Active: 2, Delayed: 3, Dead: 6, Unburied: 5 },
    });
  });
});
