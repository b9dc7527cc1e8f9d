import type { Log, LogFields } from "../contract/log.ts";

export type RefusalLog = {
  /** One delivery that wasn't taken. */
  refused(fields: LogFields & { readonly source: string; readonly reason: string }, message: string): void;
  /** Says what was counted and not yet said. */
  close(): void;
};

export type RefusalLogOptions = {
  /** Lines for each source and reason in a window. Default: 20. */
  readonly lines?: number;
  /** Milliseconds. Default: a minute. */
  readonly windowMs?: number;
};

/**
 * Anyone can have a delivery refused, thousands of times a second. The log has the first ones, by source and
 * reason, and then their number: enough to see what is going on, and no disk or bill that a stranger can fill.
 */
export function refusalLog(log: Log, { lines = 20, windowMs = 60_000 }: RefusalLogOptions = {}): RefusalLog {
  // Sources and reasons are ours, so there are few.
  const windows = new Map<string, { count: number; close(): void }>();
  return {
    refused(fields, message) {
      const { source, reason } = fields;
      const key = `${source} ${reason}`;
      let window = windows.get(key);
      if (!window) {
        const opened = {
          count: 0,
          close() {
            clearTimeout(timer);
            windows.delete(key);
            const more = opened.count - lines;
            if (more > 0)
              log.warn({ source, reason, more, windowMs }, `${message}: ${more} more, not logged`);
          },
        };
        // Never what keeps a process alive.
        const timer = setTimeout(opened.close, windowMs).unref();
        windows.set(key, opened);
        window = opened;
      }
      window.count += 1;
      if (window.count <= lines) log.warn(fields, message);
    },
    close() {
      for (const window of [...windows.values()]) window.close();
    },
  };
}
