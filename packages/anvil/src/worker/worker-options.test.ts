import { describe, expect, it } from "vitest";
import { ConfigError } from "../contract/errors.ts";
import { consoleLog, silentLog } from "../contract/log.ts";
import { resolveWorkerOptions, type WorkerOptions } from "./worker-options.ts";

function problems(options: object): readonly string[] {
  try {
    resolveWorkerOptions(options as WorkerOptions);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("resolveWorkerOptions", () => {
  it("fills in every default", () => {
    expect(resolveWorkerOptions({})).toEqual({
      redis: "redis://127.0.0.1:6379",
      queue: "webhooks",
      prefix: "{anvil}",
      concurrency: 10,
      drainMs: 25_000,
      lockMs: 30_000,
      stallCheckMs: 30_000,
      maxStalls: 10,
      sweepMs: 10_000,
      keepCompleted: { count: 1_000, ageMs: 86_400_000 },
      log: consoleLog,
    });
  });

  it("takes what is set, the least of each included", () => {
    const options = {
      redis: { url: "rediss://queue:6380" },
      queue: "q",
      prefix: "{p}",
      concurrency: 1,
      drainMs: 0,
      lockMs: 100,
      stallCheckMs: 50,
      maxStalls: 0,
      sweepMs: 50,
      keepCompleted: { count: 0, ageMs: 1_000 },
      log: silentLog,
    };
    expect(resolveWorkerOptions(options)).toEqual(options);
  });

  it("names everything that is wrong at once, with the value", () => {
    const keepCompleted = { count: -1, ageMs: 999 };
    expect(
      problems({
        concurrency: 0,
        drainMs: -1,
        lockMs: 99,
        stallCheckMs: 49,
        maxStalls: 0.5,
        sweepMs: Infinity,
        keepCompleted,
        queue: "a:b",
      }),
    ).toEqual([
      "concurrency: a whole number from 1 to 10000, not 0",
      "drainMs: a whole number from 0 to 86400000, not -1",
      "lockMs: a whole number from 100 to 86400000, not 99",
      "stallCheckMs: a whole number from 50 to 86400000, not 49",
      "maxStalls: a whole number from 0 to 1000, not 0.5",
      "sweepMs: a whole number from 50 to 86400000, not Infinity",
      "keepCompleted.count: a whole number from 0 to 1000000, not -1",
      "keepCompleted.ageMs: a whole number from 1000 to 31536000000, not 999",
      expect.stringContaining('queue "a:b"'),
    ]);
  });

  it("refuses what a timer would take for no time at all", () => {
    expect(problems({ sweepMs: 2 ** 31, drainMs: 2 ** 31, stallCheckMs: 2 ** 31 })).toHaveLength(3);
  });

  it.each([NaN, "10", null, -Infinity, 2 ** 53])("refuses %s for a number", (value) => {
    expect(problems({ concurrency: value, lockMs: value })).toHaveLength(value === null ? 0 : 2);
  });
});
