import { onTestFinished, TestRunner } from "vitest";

/**
 * Clean up after the test that is running. In a hook there is no such test: what is started there is ended by
 * the one who started it, or `leaks.ts` names it.
 */
export function atTestEnd(cleanUp: () => Promise<void>): void {
  if (TestRunner.getCurrentTest()) onTestFinished(cleanUp);
}
