import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  DEFAULT_RETRY_SCHEDULE,
  delayAfterFailure,
  formatRetrySchedule,
  parseRetrySchedule,
  retryScheduleProblem,
} from "./retry-schedule.ts";

const DAY_MS = 86_400_000;

describe("the default retry schedule", () => {
  it("is one second, five seconds, thirty seconds, five minutes, each fired once", () => {
    const delays = [1, 2, 3, 4, 5].map((failures) => delayAfterFailure(DEFAULT_RETRY_SCHEDULE, failures));
    expect(delays).toEqual([1_000, 5_000, 30_000, 300_000, undefined]);
  });

  it("is written 1s,5s,30s,5m", () => {
    expect(formatRetrySchedule(DEFAULT_RETRY_SCHEDULE)).toBe("1s,5s,30s,5m");
    expect(parseRetrySchedule("1s,5s,30s,5m")).toEqual(DEFAULT_RETRY_SCHEDULE);
  });
});

describe("retryScheduleProblem", () => {
  it.each([
    NaN,
    Infinity,
    -Infinity,
    -1,
    0,
    -0,
    0.5,
    "3",
    "",
    null,
    undefined,
    {},
    [1],
    true,
    1n,
    30 * DAY_MS + 1,
  ])("refuses a delay of %s, which would poison BullMQ's add script or mean nothing", (delay) => {
    expect(retryScheduleProblem([1_000, delay])).toContain("each delay is a whole number");
  });

  it.each([["1s"], [null], [undefined], [{ length: 1, 0: 1 }], [1_000], [new Set([1])]])(
    "refuses %j, which is no list",
    (schedule) => {
      expect(retryScheduleProblem(schedule)).toBe("a retry schedule is a list of delays in milliseconds");
    },
  );

  it("refuses a hole in the list", () => {
    // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested
    expect(retryScheduleProblem([1_000, , 1_000])).toContain("not undefined");
  });

  it("takes 50 delays and refuses 51", () => {
    expect(retryScheduleProblem(Array(50).fill(1))).toBeUndefined();
    expect(retryScheduleProblem(Array(51).fill(1))).toBe("a retry schedule has at most 50 delays, not 51");
  });

  it("takes no retry at all, one millisecond, and 30 days", () => {
    expect(retryScheduleProblem([])).toBeUndefined();
    expect(retryScheduleProblem([1, 30 * DAY_MS])).toBeUndefined();
  });
});

describe("parseRetrySchedule", () => {
  it.each(["", "  ", "none", " none\n"])("reads %j as no retry", (text) => {
    expect(parseRetrySchedule(text)).toEqual([]);
  });

  it("allows spaces around the delays", () => {
    expect(parseRetrySchedule(" 50ms , 2h,1d ")).toEqual([50, 7_200_000, DAY_MS]);
  });

  it.each([
    ["3", '"3" is no delay'],
    ["1s,,5s", '"" is no delay'],
    ["1s,5s,", '"" is no delay'],
    ["NaN", '"NaN" is no delay'],
    ["Infinity", '"Infinity" is no delay'],
    ["-1s", '"-1s" is no delay'],
    ["1s;5s", '"1s;5s" is no delay'],
    ["1s,none", '"none" is no delay'],
    ["0s", "each delay is a whole number of milliseconds from 1"],
    ["31d", "each delay is a whole number of milliseconds from 1"],
    [Array(51).fill("1s").join(","), "at most 50 delays, not 51"],
  ])("refuses %j and says what is wrong", (text, message) => {
    expect(() => parseRetrySchedule(text)).toThrow(message);
    expect(() => parseRetrySchedule(text)).toThrow(RangeError);
  });

  it("reads back whatever formatRetrySchedule writes", () => {
    const delays = fc.array(fc.integer({ min: 1, max: 999_999_999 }), { maxLength: 50 });
    fc.assert(
      fc.property(delays, (schedule) => {
        expect(parseRetrySchedule(formatRetrySchedule(schedule))).toEqual(schedule);
      }),
    );
  });
});
