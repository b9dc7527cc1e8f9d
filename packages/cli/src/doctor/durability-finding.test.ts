import { expect, test } from "vitest";
import type { Durability } from "webhook-anvil";
import { durabilityFindings } from "./durability-finding.ts";

const level = (durability: Durability, info: Record<string, string>) =>
  durabilityFindings(
    { latencyMs: 1, clockAheadMs: 0, settings: new Map(), info: new Map(Object.entries(info)) },
    durability,
  )[0]?.level;

test.each([
  ["memory", { redis_version: "6.2.0", aof_enabled: "0" }, undefined],
  ["replica", { connected_slaves: "0" }, "fail"],
  ["replica", { connected_slaves: "1" }, "ok"],
  ["disk", { redis_version: "7.0.15", aof_enabled: "1" }, "fail"],
  ["disk", { redis_version: "7.2.0", aof_enabled: "0" }, "fail"],
  ["disk", { redis_version: "7.2.0", aof_enabled: "1" }, "ok"],
  ["disk", { redis_version: "10.0.0", aof_enabled: "1" }, "ok"],
  ["disk", {}, "warn"],
] as const)("%s on a server that says %j: %s", (durability, info, expected) => {
  expect(level(durability, info)).toBe(expected);
});
