import { describe, expect, it } from "vitest";
import { isRetryAfterDelay, RetryAfter, Unrecoverable } from "./handler-errors.ts";

const DAY_MS = 86_400_000;

describe("RetryAfter", () => {
  it.each([0, 1, 30_000, DAY_MS])("takes %d ms", (delayMs) => {
    expect(new RetryAfter(delayMs)).toMatchObject({
      name: "RetryAfter",
      delayMs,
      message: `asked to retry after ${delayMs} ms`,
    });
  });

  it.each([NaN, Infinity, -1, 0.5, DAY_MS + 1, "3", null, undefined])("refuses %s", (delayMs) => {
    expect(() => new RetryAfter(delayMs as number)).toThrow(RangeError);
    expect(isRetryAfterDelay(delayMs)).toBe(false);
  });

  it("keeps a message and a cause", () => {
    const cause = new Error("429");
    expect(new RetryAfter(5, "busy", { cause })).toMatchObject({ message: "busy", cause });
  });
});

describe("Unrecoverable", () => {
  it("is an Error that keeps its name, message and cause", () => {
    const cause = new Error("410");
    expect(new Unrecoverable("gone", { cause })).toMatchObject({
      name: "Unrecoverable",
      message: "gone",
      cause,
    });
  });
});
