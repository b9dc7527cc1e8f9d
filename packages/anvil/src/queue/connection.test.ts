import { startRedis, waitUntil } from "anvil-testkit";
import { describe, expect, it } from "vitest";
import { type Log, silentLog } from "../contract/log.ts";
import { createConnection } from "./connection.ts";
import { deadlineIn } from "./deadline.ts";

function open(url: string, log: Log = silentLog) {
  return createConnection({ redis: url, name: "anvil-test", deadlineMs: 400, log });
}

describe("a connection", () => {
  it("answers by the deadline while nothing listens, and holds nothing of the requests afterwards", async () => {
    const redis = await startRedis();
    await redis.kill();
    const connection = open(redis.url);
    const before = process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    for (let round = 0; round < 3; round++) {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 500 }, () => connection.run(deadlineIn(50), (client) => client.ping())),
      );
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({ status: "rejected", reason: { code: "redis_unavailable" } });
      }
    }
    const after = process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    // What is left is ioredis's own, waiting to connect again.
    expect(after - before).toBeLessThan(5);
    await connection.close();
  });

  it("is used by none after it was closed, and lets those go that wait for it", async () => {
    const redis = await startRedis();
    await redis.kill();
    const connection = open(redis.url);
    const waiting = connection.run(deadlineIn(10_000), (client) => client.ping());
    await connection.close();
    await expect(waiting).rejects.toThrow("was closed");
    await redis.restart();
    await expect(connection.run(deadlineIn(1_000), (client) => client.ping())).rejects.toThrow("was closed");
    expect(connection.client.status).toBe("end");
  });

  it("says once that Redis is away and once that it is back, with neither user nor password", async () => {
    const redis = await startRedis({
      args: ["--user", "someone", "on", ">made-up-password", "~*", "&*", "+@all"],
    });
    await redis.kill();
    const lines: string[] = [];
    const keep = (fields: object, message: string) => lines.push(JSON.stringify({ message, ...fields }));
    const url = redis.url.replace("redis://", "redis://someone:made-up-password@");
    const connection = open(url, { info: keep, warn: keep, error: keep });
    for (let n = 0; n < 5; n++) {
      await connection.run(deadlineIn(100), (client) => client.ping()).catch(() => {});
    }
    await redis.restart();
    await waitUntil(() => lines.some((line) => line.includes("Redis is back")), { what: "the log says so" });
    expect(lines.filter((line) => line.includes("can't be reached"))).toHaveLength(1);
    expect(lines.filter((line) => line.includes("is back"))).toHaveLength(1);
    expect(lines.join()).not.toMatch(/someone|made-up-password/);
    await connection.close();
  });
});
