import { UnrecoverableError, Worker } from "bullmq";
import { AnvilError } from "../contract/errors.ts";
import { isRetryAfterDelay, RetryAfter } from "../contract/handler-errors.ts";
import { delayAfterFailure, type RetrySchedule } from "../contract/retry-schedule.ts";

/** Redis keeps the message and the stack of a failure; a body quoted in one would fill it. */
const MAX_MESSAGE = 2_000;
const MAX_STACK = 4_000;

/** A message by which BullMQ puts a job back without counting the run; from a handler it is an error like any. */
const BULLMQ_RATE_LIMIT = Worker.RateLimitError().message;

/**
 * What BullMQ is told of a failure. Whatever a handler throws becomes an Error with a bounded message and stack;
 * what no retry can help becomes BullMQ's UnrecoverableError, its stack headed by `Unrecoverable`, by which
 * `bury` tells the reason.
 */
export function toFailure(thrown: unknown): Error {
  try {
    return describeFailure(thrown);
  } catch {
    // An error whose own fields throw. It must not keep the failure from being counted.
    return new Error("the handler threw something that can't be read");
  }
}

function describeFailure(thrown: unknown): Error {
  const error = thrown instanceof Error ? thrown : new Error(asText(() => thrown));
  const message = cut(
    asText(() => error.message || error.name),
    MAX_MESSAGE,
  );
  if (isFinal(error)) {
    const failure = new UnrecoverableError(message);
    failure.stack = cut(`Unrecoverable: ${stackOf(error)}`, MAX_STACK);
    return failure;
  }
  const failure =
    askedDelay(error) === undefined
      ? new Error(message === BULLMQ_RATE_LIMIT ? `${message}.` : message)
      : new RetryAfter(askedDelay(error) as number, message);
  failure.stack = cut(stackOf(error), MAX_STACK);
  return failure;
}

function isFinal(error: Error): boolean {
  return (
    // By name, not by class: a handler bundled with its own copy of this library, or of BullMQ, throws another
    // class.
    error.name === "Unrecoverable" ||
    error.name === "UnrecoverableError" ||
    (error instanceof AnvilError && (error.code === "unreadable_job" || error.code === "no_handler"))
  );
}

/**
 * BullMQ's backoff strategy: the delay that the job itself carries, unless the handler named another.
 * @param failures how often the job has failed, this time included
 * @returns milliseconds; -1 fails the job for good
 */
export function retryDelay(failures: number, error: Error | undefined, schedule: RetrySchedule): number {
  const scheduled = delayAfterFailure(schedule, failures);
  if (scheduled === undefined) return -1;
  return askedDelay(error) ?? scheduled;
}

/** The delay of a RetryAfter, checked again: a NaN would be stored with the job. */
function askedDelay(error: Error | undefined): number | undefined {
  if (error?.name !== "RetryAfter") return undefined;
  const { delayMs } = error as Partial<RetryAfter>;
  return isRetryAfterDelay(delayMs) ? delayMs : undefined;
}

function stackOf(error: Error): string {
  return asText(() => error.stack ?? `${error.name}: ${error.message}`);
}

/** What a handler throws may have no text, as an object without a prototype, or throw when it is asked for it. */
function asText(read: () => unknown): string {
  try {
    return String(read());
  } catch {
    return "something that can't be shown as text";
  }
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}… (${text.length - length} characters more)`;
}
