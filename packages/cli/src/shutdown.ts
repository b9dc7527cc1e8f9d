/** npx and npm pass a terminal's Ctrl-C on to a process that has had it from the terminal: one key, two signals. */
const SAME_KEY_MS = 500;

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/**
 * Resolves when the process is asked to stop. Asked a second time, it ends at once, as a failure: whatever the
 * first time began is taking too long for somebody.
 * @param stopped told so before that end, in a sentence
 */
export function untilAskedToStop(stopped: (message: string) => void): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let since: number | undefined;
    const onSignal = (signal: NodeJS.Signals) => {
      if (since === undefined) {
        since = performance.now();
        resolve(signal);
      } else if (performance.now() - since > SAME_KEY_MS) {
        stopped(`stopped at once on a second ${signal}, without waiting for what was under way`);
        process.exit(1);
      }
    };
    for (const signal of SIGNALS) process.on(signal, onSignal);
  });
}

/**
 * Ends the process soon, if it doesn't by itself: a handler that was given up may not have heard its signal, and
 * would go on for as long as it likes, on a job that is another worker's by now.
 */
export function dontWaitForHandlers(): void {
  setTimeout(() => process.exit(), 100).unref();
}
