import type { Log } from "./log.ts";

/** Who replays a dead letter, and why. */
export type ReplayedBy = {
  /** A person's name, or what did it on its own: `redelivery`, `dashboard`. Cut to 200 characters. */
  readonly by: string;
  /** Cut to 200 characters. */
  readonly reason?: string;
};

/** What a job keeps of a replay, with the failure that it followed. */
export type ReplayRecord = ReplayedBy & {
  /** Milliseconds since 1970. */
  readonly at: number;
};

/** Of an event that its sender delivered again, where the source replays dead letters by itself. */
export const BY_REDELIVERY: ReplayedBy = { by: "redelivery" };
/** Of "retry" in a BullMQ dashboard, which leaves no name. */
export const BY_DASHBOARD: ReplayedBy = { by: "dashboard" };

const MAX_LENGTH = 200;

/** As it is kept: bounded, and on one line of a log or a terminal. An empty `by` is `unknown`. */
export function replayRecord({ by, reason }: Partial<ReplayedBy>, at: number): ReplayRecord {
  const why = tame(reason);
  return { at, by: tame(by) || "unknown", ...(why ? { reason: why } : {}) };
}

/** The audit line: one for each replay that happened. */
export function logReplay(log: Log, jobId: string, { by, reason, at }: ReplayRecord): void {
  log.info(
    { audit: "replay", jobId, by, ...(reason === undefined ? {} : { reason }), at },
    "dead letter replayed",
  );
}

/** Without control and format characters, line separators and halves of a pair, which cjson can't read. */
function tame(text: string | undefined): string {
  if (text === undefined) return "";
  const clean = text.slice(0, MAX_LENGTH * 4).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ");
  return [...clean.trim()].slice(0, MAX_LENGTH).join("");
}
