import { setTimeout as delay } from "node:timers/promises";
import { inspect } from "node:util";

export interface WaitUntilOptions {
  /** What is awaited, as it reads in "… did not happen": "the job is in the dead queue". */
  what: string;
  /** 5 s by default. */
  timeoutMs?: number;
  /** Between two looks; 20 ms by default. */
  intervalMs?: number;
}

/**
 * Look until the condition holds, and give what it returned.
 * A condition that throws does not hold yet (a connection still refused, say); the last error is in the message.
 */
export async function waitUntil<T>(
  condition: () => T | Promise<T>,
  { what, timeoutMs = 5_000, intervalMs = 20 }: WaitUntilOptions,
): Promise<Exclude<T, false | undefined | null | 0 | "">> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    let last: string;
    let cause: unknown;
    try {
      const value = await condition();
      if (value) return value as Exclude<T, false | undefined | null | 0 | "">;
      last = `last value: ${inspect(value)}`;
    } catch (error) {
      cause = error;
      last = `last error: ${error instanceof Error ? error.message : inspect(error)}`;
    }
    if (performance.now() >= deadline) {
      throw new Error(`Waited ${timeoutMs} ms, but this did not happen: ${what} (${last})`, { cause });
    }
    await delay(intervalMs);
  }
}
