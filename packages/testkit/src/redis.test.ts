import { existsSync } from "node:fs";
import { askRedis } from "anvil-bootstrap/redis-probe";
import { Redis } from "ioredis";
import { describe, expect, it, onTestFinished } from "vitest";
import { sharedRedisUrl, startRedis, uniquePrefix } from "./redis.ts";

function connect(url: string): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 });
  redis.on("error", () => undefined);
  onTestFinished(() => redis.disconnect());
  return redis;
}

describe("the shared Redis", () => {
  it("answers and evicts nothing", async () => {
    const redis = connect(sharedRedisUrl());
    expect(await redis.config("GET", "maxmemory-policy")).toEqual(["maxmemory-policy", "noeviction"]);
  });

  it("is shared by prefix", () => {
    expect(uniquePrefix()).toMatch(/^\{anvil-[0-9a-f]{16}\}$/);
    expect(uniquePrefix()).not.toBe(uniquePrefix());
  });
});

describe("startRedis", () => {
  it("freezes and goes on", async () => {
    const server = await startRedis();
    const redis = connect(server.url);
    await redis.set("a", "1");
    await server.pause();
    const order: string[] = [];
    const reading = redis.get("a").then((value) => {
      order.push("answered");
      return value;
    });
    await expect(askRedis(server.port, ["PING"], { timeoutMs: 100 })).rejects.toThrow(
      "gave no answer to PING",
    );
    order.push("resumed");
    await server.resume();
    expect(await reading).toBe("1");
    expect(order).toEqual(["resumed", "answered"]);
  });

  it("is stopped although it is frozen, and takes its folder with it", async () => {
    const server = await startRedis();
    const [, dir = ""] = (await connect(server.url).config("GET", "dir")) as string[];
    expect(existsSync(dir)).toBe(true);
    await server.pause();
    await server.stop();
    expect(existsSync(dir)).toBe(false);
  });

  it("is killed and comes back on its port with its data", async () => {
    const server = await startRedis({ appendonly: true });
    const { port, pid } = server;
    const redis = connect(server.url);
    await redis.set("kept", "yes");
    await server.kill();
    await expect(connect(server.url).ping()).rejects.toThrow();
    await server.restart();
    expect(server.port).toBe(port);
    expect(server.pid).not.toBe(pid);
    expect(await redis.get("kept")).toBe("yes");
  });

  it("takes settings", async () => {
    const server = await startRedis({ args: ["--maxmemory", "3mb"] });
    expect(await connect(server.url).config("GET", "maxmemory")).toEqual([
      "maxmemory",
      String(3 * 1024 * 1024),
    ]);
  });
});
