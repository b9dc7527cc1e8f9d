import { expect, test } from "vitest";
import type { RedisFacts } from "./redis-facts.ts";
import { redisFindings } from "./redis-findings.ts";

function findings(
  facts: Partial<RedisFacts>,
  info: Record<string, string> = {},
  settings: Record<string, string> = {},
) {
  const all = redisFindings(
    {
      latencyMs: 1,
      clockAheadMs: 0,
      info: new Map(
        Object.entries({
          redis_version: "7.2.4",
          role: "master",
          maxmemory_policy: "noeviction",
          aof_enabled: "1",
          ...info,
        }),
      ),
      settings: new Map(Object.entries(settings)),
      ...facts,
    },
    "redis:6379",
  );
  return (check: string) => all.find((finding) => finding.check === check);
}

test.each([
  [0, "ok"],
  [-1_999, "ok"],
  [2_000, "warn"],
  [-59_999, "warn"],
  [60_000, "fail"],
  [-3_600_000, "fail"],
])("a clock %i ms ahead: %s", (clockAheadMs, level) => {
  expect(findings({ clockAheadMs })("clock")?.level).toBe(level);
});

test("which of the two clocks is behind", () => {
  expect(findings({ clockAheadMs: -5_000 })("clock")?.message).toBe("Redis is 5.0 s behind this machine");
  expect(findings({ clockAheadMs: 5_000 })("clock")?.message).toBe("Redis is 5.0 s ahead of this machine");
});

test.each([
  ["5.0.14", "fail"],
  ["6.0.5", "fail"],
  ["6.0.16", "warn"],
  ["6.2.0", "ok"],
  ["10.0.1", "ok"],
])("version %s: %s", (redis_version, level) => {
  expect(findings({}, { redis_version })("version")?.level).toBe(level);
});

test("Valkey goes by its own name", () => {
  expect(findings({}, { valkey_version: "8.1.0" })("version")?.message).toBe("Valkey 8.1.0");
});

test("memory: a limit that is near", () => {
  const gib = 2 ** 30;
  expect(findings({}, { used_memory: String(0.9 * gib), maxmemory: String(gib) })("memory")?.level).toBe(
    "warn",
  );
  expect(findings({}, { used_memory: String(0.5 * gib), maxmemory: String(gib) })("memory")?.level).toBe(
    "ok",
  );
  expect(findings({}, { used_memory: String(gib), maxmemory: "0" })("memory")?.level).toBe("ok");
});

test("a slow round trip", () => {
  expect(findings({ latencyMs: 250 })("redis")).toMatchObject({
    level: "warn",
    message: "answers at redis:6379 in 250 ms",
  });
});

test("persistence: failing writes, and a policy that leaves it to the system", () => {
  expect(findings({}, { aof_last_write_status: "err" })("persistence")?.level).toBe("fail");
  expect(findings({}, { aof_enabled: "0", rdb_last_bgsave_status: "err" })("persistence")?.level).toBe(
    "fail",
  );
  expect(findings({}, {}, { appendfsync: "no" })("persistence")?.level).toBe("warn");
  expect(findings({}, {}, { appendfsync: "always" })("persistence")?.level).toBe("ok");
});
