/** Why a handler's signal aborted. */
type AbortReason = "draining" | "lock_lost";

/** One handler under way. */
type RunningJob = {
  readonly signal: AbortSignal;
  /** Set once the signal has aborted. */
  aborted(): AbortReason | undefined;
  /** Resolves when the job must be given back, whether its handler is done or not. */
  readonly givenUp: Promise<void>;
  /** The lock of this very run is found to be gone. */
  readonly lose: () => void;
  done(): void;
};

/** The handlers under way in this worker, and the two ways to stop them: a drain, or a lost lock. */
export type RunningJobs = {
  add(jobId: string): RunningJob;
  /** Says that the lock of these jobs holds for another `lockMs` from now. */
  renewed(jobIds: readonly string[]): void;
  /** Their lock is gone: another worker has the job, or will. */
  lost(jobIds: readonly string[]): void;
  /** Aborts every signal, then gives up what still runs after `graceMs`. */
  stop(graceMs: number): void;
  /** Ends the watch over the locks. */
  close(): void;
};

/**
 * @param lockMs how long a lock lasts without being renewed. When Redis can't be reached no renewal fails, there
 *   just is none; so silence for that long counts as a lost lock too.
 * @param onLost told of each job whose lock was lost while it ran
 */
export function runningJobs(lockMs: number, onLost: (jobId: string) => void): RunningJobs {
  type Entry = { controller: AbortController; reason?: AbortReason; heldUntil: number; giveUp: () => void };
  const entries = new Map<string, Entry>();
  let stopped = false;

  const abort = (jobId: string, entry: Entry, reason: AbortReason) => {
    if (entry.reason === "lock_lost") return;
    entry.reason = reason;
    entry.controller.abort(new DOMException(`The handler must stop: ${reason}`, "AbortError"));
    if (reason !== "lock_lost") return;
    onLost(jobId);
    // Whoever has the lock has the job. A handler that doesn't hear the signal must not hold its place here.
    entry.giveUp();
  };
  const watch = setInterval(
    () => {
      for (const [jobId, entry] of entries) {
        if (performance.now() > entry.heldUntil) abort(jobId, entry, "lock_lost");
      }
    },
    Math.max(20, lockMs / 4),
  );
  watch.unref();

  return {
    add(jobId) {
      let giveUp = () => {};
      const givenUp = new Promise<void>((resolve) => {
        giveUp = resolve;
      });
      const entry: Entry = {
        controller: new AbortController(),
        heldUntil: performance.now() + lockMs,
        giveUp,
      };
      entries.set(jobId, entry);
      if (stopped) abort(jobId, entry, "draining");
      return {
        signal: entry.controller.signal,
        aborted: () => entry.reason,
        givenUp,
        lose: () => abort(jobId, entry, "lock_lost"),
        done() {
          if (entries.get(jobId) === entry) entries.delete(jobId);
        },
      };
    },
    renewed(jobIds) {
      for (const jobId of jobIds) {
        const entry = entries.get(jobId);
        if (entry) entry.heldUntil = performance.now() + lockMs;
      }
    },
    lost(jobIds) {
      for (const jobId of jobIds) {
        const entry = entries.get(jobId);
        if (entry) abort(jobId, entry, "lock_lost");
      }
    },
    stop(graceMs) {
      stopped = true;
      for (const [jobId, entry] of entries) abort(jobId, entry, "draining");
      setTimeout(() => {
        for (const entry of entries.values()) entry.giveUp();
      }, graceMs);
    },
    close: () => clearInterval(watch),
  };
}
