import { createConnection } from "node:net";
import { Redis } from "ioredis";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { startRedis, type TestRedis } from "./redis.ts";
import { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";
import { waitUntil } from "./wait-until.ts";

function directly(server: TestRedis): Redis {
  const redis = new Redis(server.url, { retryStrategy: () => null });
  redis.on("error", () => {});
  onTestFinished(() => redis.disconnect());
  return redis;
}

describe("a TCP proxy", () => {
  let server: TestRedis;
  let proxy: TcpProxy;
  let redis: Redis;
  let errors: Error[];
  beforeEach(async () => {
    server = await startRedis();
    proxy = await startTcpProxy(server.port);
    errors = [];
    redis = new Redis({ port: proxy.port, retryStrategy: () => null, commandTimeout: 500 });
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

  it("makes the way longer by a jitter that can be repeated, and keeps the order", async () => {
    let seed = 7;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    proxy.roundTrip(20, { jitterMs: 60, random });
    const took: number[] = [];
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, at) => {
        await new Promise((resolve) => setTimeout(resolve, at * 5));
        const started = performance.now();
        const answer = await redis.echo(String(at));
        took.push(performance.now() - started);
        return answer;
      }),
    );
    expect(answers).toEqual(Array.from({ length: 20 }, (_, at) => String(at)));
    expect(Math.min(...took)).toBeGreaterThanOrEqual(19);
    expect(new Set(took.map(Math.round)).size).toBeGreaterThan(3);
  });

  it("swallows what is opened later too, when told so, until it is healed", async () => {
    proxy.blackHole({ newToo: true });
    await expect(redis.ping()).rejects.toThrow("timed out");
    const another = redis.duplicate({ connectTimeout: 200 });
    another.on("error", () => {});
    await expect(another.ping()).rejects.toThrow();
    another.disconnect();
    proxy.heal();
    const third = redis.duplicate();
    expect(await third.ping()).toBe("PONG");
    third.disconnect();
  });

  it("swallows replies: the server did what was asked and the client never hears of it", async () => {
    proxy.swallowReplies();
    await expect(redis.incr("open")).rejects.toThrow("timed out");
    const socket = createConnection(proxy.port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    let heard = 0;
    socket.on("data", (bytes) => {
      heard += bytes.length;
    });
    socket.write("INCR new\r\n");
    const direct = directly(server);
    await waitUntil(() => direct.exists("new"), { what: "the new connection's request has arrived" });
    expect(await direct.mget("open", "new")).toEqual(["1", "1"]);
    proxy.heal();
    // It has lost bytes: what came next would be taken for the answer to what was lost.
    await expect(redis.ping()).rejects.toThrow("timed out");
    expect(heard).toBe(0);
    const third = redis.duplicate();
    expect(await third.ping()).toBe("PONG");
    third.disconnect();
  });

  it("drops requests: the server never hears of them", async () => {
    proxy.dropRequests();
    await expect(redis.incr("dropped")).rejects.toThrow("timed out");
    proxy.heal();
    const direct = directly(server);
    expect(await direct.exists("dropped")).toBe(0);
  });

  it("holds requests, and delivers them in order although their client has gone", async () => {
    const direct = directly(server);
    const patient = redis.duplicate({ commandTimeout: 10_000 });
    onTestFinished(() => patient.disconnect());
    await patient.ping();
    proxy.holdRequests();
    const waiting = patient.incr("patient");
    // Far more than the server reads at once, and an answer to each: none of it may hinder the rest.
    const lost = Array.from({ length: 200 }, (_, at) => redis.rpush("gone", `${at} ${"x".repeat(2_000)}`));
    const settled = Promise.allSettled(lost);
    await waitUntil(() => proxy.held() > 400_000, { what: "all of it is held" });
    redis.disconnect();
    expect((await settled).every(({ status }) => status === "rejected")).toBe(true);
    await waitUntil(() => proxy.connections() === 1, { what: "the proxy has seen that the client is gone" });
    expect(await direct.exists("gone", "patient")).toBe(0);
    proxy.release();
    expect(await waiting).toBe(1);
    await waitUntil(async () => (await direct.llen("gone")) === 200, { what: "all of it has arrived" });
    expect((await direct.lrange("gone", 0, -1)).map((text) => Number.parseInt(text, 10))).toEqual(
      Array.from({ length: 200 }, (_, at) => at),
    );
    expect(proxy.held()).toBe(0);
    expect(await patient.ping()).toBe("PONG");
  });

  it("holds requests of a client that ends with a reset", async () => {
    const direct = directly(server);
    const socket = createConnection(proxy.port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    proxy.holdRequests();
    socket.write("SET reset 1\r\n");
    await waitUntil(() => proxy.held() > 0, { what: "it is held" });
    socket.resetAndDestroy();
    await waitUntil(() => proxy.connections() === 1, { what: "the proxy has seen the reset" });
    proxy.release();
    await waitUntil(() => direct.exists("reset"), { what: "it has arrived" });
  });

  it("sends new connections to another server, and leaves the open ones", async () => {
    const other = await startRedis();
    await redis.set("which", "first");
    proxy.pointTo(other.port);
    const another = redis.duplicate();
    onTestFinished(() => another.disconnect());
    expect(await another.get("which")).toBeNull();
    expect(await redis.get("which")).toBe("first");
  });
});
