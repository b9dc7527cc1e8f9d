import { type Job, WaitingError } from "bullmq";
import type { Cipher } from "../contract/cipher.ts";
import { readEnvelope } from "../contract/envelope.ts";
import type { Log } from "../contract/log.ts";
import { toEvent } from "./event.ts";
import { toFailure } from "./failure.ts";
import type { FindHandler } from "./handlers.ts";
import type { RunningJobs } from "./running-jobs.ts";
import { encryptedSteps, type StepStore, stepRunner } from "./steps.ts";

/**
 * One attempt at a job: read the envelope, find the handler, run it.
 * @returns when the handler is done
 * @throws what BullMQ is to do otherwise: an error retries or fails the job; WaitingError leaves it alone, since
 *   it is back in the queue already, or another worker's
 */
export function jobProcessor(
  findHandler: FindHandler,
  running: RunningJobs,
  stepsOf: (jobId: string, token: string) => StepStore,
  log: Log,
  cipher?: Cipher,
): (job: Job, token?: string) => Promise<void> {
  return async (job, token = "") => {
    const jobId = job.id as string;
    const current = running.add(jobId);
    const attempt = job.attemptsMade + 1;
    try {
      const outcome = await Promise.race([
        settle(async () => {
          const envelope = readEnvelope(job.data);
          const event = toEvent(jobId, envelope, cipher);
          const { signal } = current;
          const results = encryptedSteps(stepsOf(jobId, token), jobId, cipher);
          const step = stepRunner(results, signal, current.lose);
          await findHandler(event)(event, { attempt, signal, idempotencyKey: envelope.key, step });
        }),
        current.givenUp.then(() => "given up" as const),
      ]);
      // Without the lock nothing can be written for this job any more: whoever has it decides.
      if (current.aborted() === "lock_lost") throw new WaitingError();
      if (outcome === "done") return;
      // Stopped by us, so it isn't the handler's failure: the next worker takes it up with the same attempt.
      if (current.aborted() === "draining") {
        await job.moveToWait(token);
        log.info({ jobId, attempt }, "given back: the worker stops");
        throw new WaitingError();
      }
      throw outcome === "given up" ? new Error("given up") : toFailure(outcome.error);
    } finally {
      current.done();
    }
  };
}

async function settle(run: () => Promise<void>): Promise<"done" | { readonly error: unknown }> {
  try {
    await run();
    return "done";
  } catch (error) {
    return { error };
  }
}
