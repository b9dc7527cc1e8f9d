import type { Log } from "../contract/log.ts";
import { logReplay } from "../contract/replay-record.ts";
import type { QueuePlace } from "../queue/queue-place.ts";
import type { RedisClient } from "../queue/redis-clients.ts";
import { sweep } from "../queue/sweep.ts";

/** Sweeps now and then every `everyMs` milliseconds, one at a time. @returns stops it, and waits for the last. */
export function startSweeper(
  client: RedisClient,
  place: QueuePlace,
  everyMs: number,
  log: Log,
): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let current: Promise<void> = Promise.resolve();
  const round = async () => {
    try {
      const swept = await sweep(client, place, (jobId, record) => logReplay(log, jobId, record));
      if (swept.buried + swept.retried > 0) log.info(swept, "swept what another worker left behind");
    } catch (error) {
      if (!stopped) log.warn({ reason: (error as Error).message }, "sweep failed; the next one will do");
    }
    if (!stopped) timer = setTimeout(start, everyMs);
  };
  const start = () => {
    current = round();
  };
  start();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await current;
  };
}
