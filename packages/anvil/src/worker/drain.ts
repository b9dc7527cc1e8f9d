import type { Worker as BullWorker } from "bullmq";
import type { Log } from "../contract/log.ts";
import type { RunningJobs } from "./running-jobs.ts";

/** For handlers that don't hear the signal, between it and being given up. */
const MAX_GRACE_MS = 1_000;
/** For the last commands to Redis after everything has been given back. */
export const FAREWELL_MS = 2_000;

/** Lets running handlers finish for `drainMs`, aborts the rest, gives back what still runs, and ends in bounded time. */
export async function drain(
  worker: BullWorker,
  running: RunningJobs,
  drainMs: number,
  log: Log,
): Promise<void> {
  const graceMs = Math.min(MAX_GRACE_MS, drainMs / 5);
  const timer = setTimeout(() => running.stop(graceMs), drainMs - graceMs);
  const closed = worker.close().catch((error: Error) => log.warn({ reason: error.message }, "closing"));
  const inTime = await settledWithin(drainMs + FAREWELL_MS, closed);
  clearTimeout(timer);
  if (!inTime) log.error({}, "Redis gave no answer while stopping; jobs under way will stall and run again");
}

/** @returns whether `work` settled within `ms` */
export async function settledWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true as const), late]);
  } finally {
    clearTimeout(timer);
  }
}
