import { askRedis } from "anvil-bootstrap/redis-probe";
import { describe, expect, it } from "vitest";
import { redisRole, startRedisReplicas } from "./redis-replicas.ts";
import { startSentinels } from "./redis-sentinels.ts";
import { waitUntil } from "./wait-until.ts";

describe("startRedisReplicas", () => {
  it("gives a primary and replicas that have what it is told, and that take its place", async () => {
    const group = await startRedisReplicas({ replicas: 2, appendonly: true });
    const [first, second, third] = group.nodes as [
      typeof group.primary,
      typeof group.primary,
      typeof group.primary,
    ];
    await askRedis(first.port, ["SET", "a", "1"]);
    await group.caughtUp();
    for (const { port } of group.replicas) expect(await askRedis(port, ["GET", "a"])).toBe("1");
    await expect(askRedis(second.port, ["SET", "a", "2"])).rejects.toThrow("READONLY");

    await group.promote(second);
    expect(group.primary).toBe(second);
    expect(group.replicas).toEqual([first, third]);
    await expect(askRedis(first.port, ["SET", "a", "3"])).rejects.toThrow("READONLY");
    await askRedis(second.port, ["SET", "a", "4"]);
    await group.caughtUp();
    for (const { port } of [first, third]) expect(await askRedis(port, ["GET", "a"])).toBe("4");
  });
});

describe("startSentinels", () => {
  it("names a new primary when the old one is killed, and makes it a replica when it is back", async () => {
    const group = await startRedisReplicas();
    const sentinels = await startSentinels(group);
    const old = await sentinels.primary();
    expect(old).toBe(group.primary);
    const next = await sentinels.failover("kill");
    expect(next).toBe(group.replicas[0]);
    expect(await sentinels.primary()).toBe(next);
    await askRedis(next.port, ["SET", "a", "1"]);
    await old.restart();
    await waitUntil(async () => (await redisRole(old.port)) === "slave", {
      what: "the sentinels make the old primary a replica",
      timeoutMs: 20_000,
    });
  }, 30_000);

  it("names a new primary when the old one is silent, with one sentinel silent too", async () => {
    const group = await startRedisReplicas();
    const sentinels = await startSentinels(group);
    sentinels.sentinels[0]?.pause();
    await sentinels.failover("pause");
    expect(await sentinels.primary()).toBe(group.replicas[0]);
  });
});
