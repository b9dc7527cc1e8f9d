import { formatDuration, parseDuration } from "./duration.ts";

/**
 * Delays in milliseconds, one for each retry. The first run comes before the first delay, so a schedule
 * of four means at most five runs. See docs/decisions/retry-schedule.md.
 */
export type RetrySchedule = readonly number[];

/** One second, five seconds, thirty seconds, five minutes. */
export const DEFAULT_RETRY_SCHEDULE: RetrySchedule = [1_000, 5_000, 30_000, 300_000];

const MAX_RETRIES = 50;
const MAX_DELAY_MS = 30 * 86_400_000;

/**
 * Says what is wrong with a schedule, or nothing. Checked before anything is sent to Redis, because BullMQ's
 * add script stores the deduplication key before it stores the job: an option that makes it fail in between
 * (NaN, Infinity) would make every redelivery look like a duplicate of a job that doesn't exist
 * (measured on BullMQ 6.7.0).
 */
export function retryScheduleProblem(schedule: unknown): string | undefined {
  if (!Array.isArray(schedule)) return "a retry schedule is a list of delays in milliseconds";
  if (schedule.length > MAX_RETRIES) {
    return `a retry schedule has at most ${MAX_RETRIES} delays, not ${schedule.length}`;
  }
  for (const delay of schedule) {
    if (!Number.isSafeInteger(delay) || delay < 1 || delay > MAX_DELAY_MS) {
      return `each delay is a whole number of milliseconds from 1 to ${MAX_DELAY_MS} (30 days), not ${String(delay)}`;
    }
  }
  return undefined;
}

/**
 * Reads "1s,5s,30s,5m"; an empty text or "none" means no retry at all.
 * @throws {RangeError} saying which part can't be read
 */
export function parseRetrySchedule(text: string): RetrySchedule {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed === "none") return [];
  const schedule = trimmed.split(",").map((part) => {
    const delay = parseDuration(part);
    if (delay === undefined) {
      throw new RangeError(`"${part.trim()}" is no delay; write a schedule as in 1s,5s,30s,5m`);
    }
    return delay;
  });
  const problem = retryScheduleProblem(schedule);
  if (problem) throw new RangeError(problem);
  return schedule;
}

/** The inverse of parseRetrySchedule. */
export function formatRetrySchedule(schedule: RetrySchedule): string {
  return schedule.length === 0 ? "none" : schedule.map(formatDuration).join(",");
}

/** The delay in milliseconds after failure number `failures` (from 1); undefined when none is left. */
export function delayAfterFailure(schedule: RetrySchedule, failures: number): number | undefined {
  return schedule[failures - 1];
}
