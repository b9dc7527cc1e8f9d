import type { ReplayRecord } from "./replay-record.ts";

/** Why a job was given up. */
export type DeadReason =
  /** Every retry of its schedule was used. */
  | "exhausted"
  /** The handler threw `Unrecoverable`. */
  | "unrecoverable"
  /** Its worker died or hung while running it, more often than `maxStalls` allows. */
  | "stalled"
  /** What is stored can't be read by this version. */
  | "unreadable";

/** What a job gains when it is buried; it keeps its id, data, attempts and stack. */
export type FailureContext = {
  /** Runs that failed since the job was accepted, or since its last replay. */
  readonly attempts: number;
  /** The message of the last error. */
  readonly lastError: string;
  readonly reason: DeadReason;
  /** Milliseconds since 1970. */
  readonly failedAt: number;
  /** How often it had been replayed before this failure. */
  readonly replays: number;
};

/** A failure before a replay, and who replayed it; failures of before version 0.3 don't say. */
export type PastFailure = FailureContext & { readonly replayed?: ReplayRecord };

/** The text with which BullMQ 6.7 fails a job that stalled too often (`moveStalledJobsToWait-9.lua`). */
export const STALLED_MESSAGE = "job stalled more than allowable limit";
