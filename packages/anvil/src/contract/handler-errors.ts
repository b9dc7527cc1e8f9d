/**
 * Throw it from a handler when no retry can help (the payload is wrong, the account is gone).
 * The job skips the rest of its schedule and becomes a dead letter with reason `unrecoverable`.
 */
export class Unrecoverable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "Unrecoverable";
  }
}

/**
 * Throw it from a handler when the other side said when to come back (HTTP 429 or 503 with Retry-After).
 * It replaces the delay of this one retry. It uses up a retry like any failure, and after the last
 * retry the job is a dead letter, whatever the delay asked for.
 */
export class RetryAfter extends Error {
  /** Milliseconds until the next attempt. At most 24 hours. */
  readonly delayMs: number;

  constructor(delayMs: number, message = `asked to retry after ${delayMs} ms`, options?: ErrorOptions) {
    super(message, options);
    if (!isRetryAfterDelay(delayMs)) {
      throw new RangeError(
        `RetryAfter takes whole milliseconds from 0 to ${MAX_RETRY_AFTER_MS}, not ${String(delayMs)}`,
      );
    }
    this.name = "RetryAfter";
    this.delayMs = delayMs;
  }
}

const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000;

/** Whether a RetryAfter, perhaps of another copy of this library, names a delay that may be stored. */
export function isRetryAfterDelay(ms: unknown): ms is number {
  return Number.isSafeInteger(ms) && (ms as number) >= 0 && (ms as number) <= MAX_RETRY_AFTER_MS;
}
