import { Redis } from "ioredis";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { startRedis } from "./redis.ts";
import { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";
import { waitUntil } from "./wait-until.ts";

describe("a TCP proxy", () => {
  let proxy: TcpProxy;
  let redis: Redis;
  let errors: Error[];
  beforeEach(async () => {
    const server = await startRedis();
    proxy = await startTcpProxy(server.port);
    errors = [];
    redis = new Redis({ port: proxy.port, retryStrategy: () => null, commandTimeout: 1_000 });
    redis.on("error", (error) => errors.push(error));
    onTestFinished(() => redis.disconnect());
    expect(await redis.ping()).toBe("PONG");
  });

  it("carries what is said, and counts connections", async () => {
    const long = "x".repeat(1_000_000);
    expect(await redis.echo(long)).toBe(long);
    expect([proxy.connections(), proxy.accepted()]).toEqual([1, 1]);
    redis.disconnect();
    await waitUntil(() => proxy.connections() === 0, { what: "the connection is gone" });
  });

  it("makes the way longer, and keeps the order", async () => {
    proxy.roundTrip(200);
    const started = performance.now();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => redis.echo(String(at))));
    expect(performance.now() - started).toBeGreaterThanOrEqual(195);
    expect(answers).toEqual(Array.from({ length: 20 }, (_, at) => String(at)));
  });

  it("breaks a connection so that its end notices at once", async () => {
    const closed = new Promise((resolve) => redis.once("close", resolve));
    proxy.cut();
    await closed;
    expect(errors).toMatchObject([{ code: "ECONNRESET" }]);
    expect(proxy.connections()).toBe(0);
  });

  it("swallows a connection so that its end notices nothing, and carries new ones", async () => {
    proxy.blackHole();
    await expect(redis.ping()).rejects.toThrow("timed out");
    expect(redis.status).toBe("ready");
    const another = redis.duplicate();
    expect(await another.ping()).toBe("PONG");
    another.disconnect();
  });

  it("breaks new connections until it is healed", async () => {
    proxy.refuse();
    const another = redis.duplicate();
    another.on("error", () => {});
    await expect(another.ping()).rejects.toThrow();
    expect(await redis.ping()).toBe("PONG");
    proxy.heal();
    const third = redis.duplicate();
    expect(await third.ping()).toBe("PONG");
    third.disconnect();
  });
});
