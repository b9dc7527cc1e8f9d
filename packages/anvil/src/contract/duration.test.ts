import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDuration, parseDuration } from "./duration.ts";

describe("parseDuration", () => {
  it.each([
    ["0ms", 0],
    ["50ms", 50],
    ["1s", 1_000],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["7d", 604_800_000],
    [" 1s\n", 1_000],
  ])("reads %j as %d ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    "",
    "1",
    "s",
    "1.5s",
    "-1s",
    "+1s",
    "1e3ms",
    "1 s",
    "1S",
    "1w",
    "1s2s",
    "1234567890ms",
    "Infinity",
  ])("takes %j for none", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it("has no unit named like a property of every object", () => {
    expect(parseDuration("1constructor")).toBeUndefined();
  });
});

describe("formatDuration", () => {
  it.each([
    [0, "0ms"],
    [999, "999ms"],
    [1_500, "1500ms"],
    [90_000, "90s"],
    [300_000, "5m"],
    [86_400_000, "1d"],
  ])("writes %d as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it("is read back as the same time", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      }),
    );
  });
});
