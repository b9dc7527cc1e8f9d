import type { Handler, WebhookEvent } from "webhook-anvil";
import { Failure } from "../failure.ts";

/** One run of the demo's handler. */
export type Run = {
  readonly event: WebhookEvent;
  /** 1 for the first. */
  readonly attempt: number;
  /** Why it failed; undefined when it went well. */
  readonly error?: string;
};

/** Every run of a handler: kept for the story to ask for, then told to whoever listens. */
export type Runs = {
  /** The handler, watched. */
  readonly handler: Handler;
  /** The next run of a job that hasn't been asked for yet, already over or still to come. */
  next(jobId: string, signal: AbortSignal): Promise<Run>;
  /** So many runs this job has had. */
  count(jobId: string): number;
  /** Tells every run from now on. */
  follow(listener: (run: Run) => void): void;
};

const PATIENCE_MS = 10_000;

export function watchRuns(handler: Handler): Runs {
  const runs: Run[] = [];
  const told = new Map<string, number>();
  let wake = () => {};
  let listener: ((run: Run) => void) | undefined;
  const record = (run: Run) => {
    if (listener) listener(run);
    else runs.push(run);
    wake();
  };
  const of = (jobId: string) => runs.filter(({ event }) => event.id === jobId);

  return {
    async handler(event, context) {
      const { attempt } = context;
      try {
        await handler(event, context);
      } catch (error) {
        record({ event, attempt, error: (error as Error).message });
        throw error;
      }
      record({ event, attempt });
    },
    async next(jobId, signal) {
      const index = told.get(jobId) ?? 0;
      told.set(jobId, index + 1);
      const late = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
      for (;;) {
        const run = of(jobId)[index];
        if (run) return run;
        signal.throwIfAborted();
        if (late.aborted) throw new Failure(`no worker ran ${jobId} within ${PATIENCE_MS / 1000} s`);
        await new Promise<void>((resolve) => {
          wake = resolve;
          late.addEventListener("abort", () => resolve(), { once: true });
        });
      }
    },
    count: (jobId) => of(jobId).length,
    follow(next) {
      listener = next;
    },
  };
}
