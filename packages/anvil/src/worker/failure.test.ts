import { UnrecoverableError } from "bullmq";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AnvilError } from "../contract/errors.ts";
import { RetryAfter, Unrecoverable } from "../contract/handler-errors.ts";
import { DEFAULT_RETRY_SCHEDULE } from "../contract/retry-schedule.ts";
import { retryDelay, toFailure } from "./failure.ts";

const DAY_MS = 86_400_000;

/** As a handler throws it that was bundled with its own copy of this library. */
function ofAnotherCopy(name: string, fields: object = {}): Error {
  return Object.assign(new Error("from another copy"), { name, ...fields });
}

describe("toFailure", () => {
  it("takes BullMQ's own UnrecoverableError for what it says", () => {
    expect(toFailure(new UnrecoverableError("no retry helps"))).toBeInstanceOf(UnrecoverableError);
  });

  it("lets no message put a job back without counting the run", () => {
    // BullMQ compares the message of what was thrown with this text.
    expect(toFailure(new Error("bullmq:rateLimitExceeded")).message).toBe("bullmq:rateLimitExceeded.");
  });

  it("keeps an error's message and stack", () => {
    const thrown = new TypeError("no such customer");
    const failure = toFailure(thrown);
    expect(failure.message).toBe("no such customer");
    expect(failure.stack).toBe(thrown.stack);
    expect(failure).not.toBeInstanceOf(UnrecoverableError);
  });

  it("takes the name for the message where there is none", () => {
    expect(toFailure(new RangeError()).message).toBe("RangeError");
  });

  it("cuts a message at 2000 characters and says how many are missing", () => {
    expect(toFailure(new Error("x".repeat(2_000))).message).toBe("x".repeat(2_000));
    expect(toFailure(new Error("x".repeat(100_000))).message).toBe(
      `${"x".repeat(2_000)}… (98000 characters more)`,
    );
  });

  it("cuts the stack of every kind of failure at 4000 characters", () => {
    const errors = [
      new Error("x".repeat(100_000)),
      new Unrecoverable("x".repeat(100_000)),
      new RetryAfter(1, "x".repeat(100_000)),
    ];
    for (const error of errors) {
      const { stack = "" } = toFailure(error);
      expect(stack.length).toBeLessThan(4_050);
      expect(stack).toContain("characters more)");
    }
  });

  it.each([
    ["a text", "a text"],
    ["", "Error"],
    [undefined, "undefined"],
    [null, "null"],
    [42, "42"],
    [10n, "10"],
    [Symbol("s"), "Symbol(s)"],
    [{ code: 1 }, "[object Object]"],
    [Object.create(null), "something that can't be shown as text"],
    [
      {
        toString: () => {
          throw new Error("no");
        },
      },
      "something that can't be shown as text",
    ],
    [Object.assign(new Error("x"), { message: { code: 1 } }), "[object Object]"],
    [
      Object.assign(new Error("x"), { message: Object.create(null) }),
      "something that can't be shown as text",
    ],
    [Object.assign(new Error("x"), { stack: 5 }), "x"],
    [Object.assign(new Error("x"), { name: Object.create(null), stack: undefined }), "x"],
  ])("makes an Error of whatever a handler throws: %#", (thrown, message) => {
    const failure = toFailure(thrown);
    expect(failure).toBeInstanceOf(Error);
    expect(failure.message).toBe(message);
    expect(typeof failure.stack).toBe("string");
  });

  it("never throws itself", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (thrown) => {
        expect(toFailure(thrown).message.length).toBeLessThan(2_050);
      }),
    );
  });

  it.each([
    ["Unrecoverable", new Unrecoverable("gone")],
    ["Unrecoverable of another copy", ofAnotherCopy("Unrecoverable")],
    ["a subclass of it", new (class Gone extends Unrecoverable {})("gone")],
    ["an unreadable job", new AnvilError("unreadable_job", "unreadable job: gone")],
    ["no handler", new AnvilError("no_handler", "No handler")],
  ])("makes %s BullMQ's error that is never retried, its stack headed for bury", (_, thrown) => {
    const failure = toFailure(thrown);
    expect(failure).toBeInstanceOf(UnrecoverableError);
    expect(failure.message).toBe(thrown.message);
    expect(failure.stack).toMatch(/^Unrecoverable: /);
  });

  it.each([
    ["Redis trouble", new AnvilError("redis_unavailable", "late")],
    ["a name that only contains it", ofAnotherCopy("NotUnrecoverable")],
    ["a text", "Unrecoverable"],
  ])("leaves %s to the schedule", (_, thrown) => {
    expect(toFailure(thrown)).not.toBeInstanceOf(UnrecoverableError);
  });

  it.each([new RetryAfter(7_000, "busy"), ofAnotherCopy("RetryAfter", { delayMs: 7_000 })])(
    "keeps the delay that a handler asked for: %#",
    (thrown) => {
      const failure = toFailure(thrown);
      expect(failure).toMatchObject({ name: "RetryAfter", delayMs: 7_000, message: thrown.message });
      expect(retryDelay(1, failure, [1])).toBe(7_000);
    },
  );

  it.each([NaN, Infinity, -1, 0.5, DAY_MS + 1, "5", null, undefined])(
    "drops a delay of %s, which another copy didn't check, and keeps the message",
    (delayMs) => {
      const failure = toFailure(ofAnotherCopy("RetryAfter", { delayMs }));
      expect(failure.message).toBe("from another copy");
      expect(retryDelay(1, failure, [1])).toBe(1);
    },
  );
});

describe("retryDelay", () => {
  it("is the default schedule after each failure, then -1", () => {
    const delays = [1, 2, 3, 4, 5].map((failures) =>
      retryDelay(failures, new Error("x"), DEFAULT_RETRY_SCHEDULE),
    );
    expect(delays).toEqual([1_000, 5_000, 30_000, 300_000, -1]);
  });

  it("is -1 at once without a schedule", () => {
    expect(retryDelay(1, new Error("x"), [])).toBe(-1);
  });

  it("is what RetryAfter asks for, for this one retry", () => {
    expect(retryDelay(2, new RetryAfter(0), DEFAULT_RETRY_SCHEDULE)).toBe(0);
    expect(retryDelay(2, new RetryAfter(DAY_MS), DEFAULT_RETRY_SCHEDULE)).toBe(DAY_MS);
    expect(retryDelay(3, new Error("x"), DEFAULT_RETRY_SCHEDULE)).toBe(30_000);
  });

  it("is -1 after the last retry whatever RetryAfter asks for", () => {
    expect(retryDelay(5, new RetryAfter(1), DEFAULT_RETRY_SCHEDULE)).toBe(-1);
  });

  it.each([NaN, Infinity, -1, DAY_MS + 1])("is the scheduled one when RetryAfter holds %s", (delayMs) => {
    expect(retryDelay(1, ofAnotherCopy("RetryAfter", { delayMs }), DEFAULT_RETRY_SCHEDULE)).toBe(1_000);
  });

  it("is the scheduled one without an error", () => {
    expect(retryDelay(1, undefined, DEFAULT_RETRY_SCHEDULE)).toBe(1_000);
  });
});
