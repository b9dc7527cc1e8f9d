import { randomUUID } from "node:crypto";
import { DEFAULT_DEADLINE_MS } from "../contract/config.ts";
import { ConfigError } from "../contract/errors.ts";
import { isJobId } from "../contract/job-id.ts";
import { consoleLog, type Log } from "../contract/log.ts";
import { DEFAULT_PREFIX, DEFAULT_QUEUE, queueNameProblem } from "../contract/queue-names.ts";
import { logReplay, type ReplayedBy, replayRecord } from "../contract/replay-record.ts";
import { type Connection, createConnection } from "../queue/connection.ts";
import { deadlineIn } from "../queue/deadline.ts";
import { jobState } from "../queue/inspect.ts";
import type { RedisTarget } from "../queue/redis-target.ts";
import { unbury } from "../queue/unbury.ts";

/** `by` (default: `unknown`) and `reason` stay with the job, in the log and in `anvil dead show`. */
export type ReplayOptions = Partial<ReplayedBy> & {
  /** Default: redis://127.0.0.1:6379. */
  readonly redis?: RedisTarget;
  /** An open connection to use instead; it stays open. */
  readonly connection?: Connection;
  /** As on the ingress. Default: `webhooks`. */
  readonly queue?: string;
  /** As on the ingress. Default: `{anvil}`. */
  readonly prefix?: string;
  /** For Redis to answer, in milliseconds. Default: 2000. */
  readonly deadlineMs?: number;
  /** Default: JSON lines on the console. */
  readonly log?: Log;
};

export type Replayed =
  | { readonly replayed: true; readonly jobId: string }
  | {
      readonly replayed: false;
      readonly jobId: string;
      /**
       * `not_found`: no job has this id, or it is done and no longer kept. `not_dead`: it is in the queue, perhaps
       * replayed by somebody else just now. `done`: it was handled.
       */
      readonly reason: "not_found" | "not_dead" | "done";
    };

/**
 * Moves one dead letter back into the queue, in one step, with its full retry schedule. Of two calls at once one
 * says `replayed: true` and the event runs once more. Starts no worker.
 * @throws {AnvilError} `redis_unavailable`: whether it was replayed isn't known; calling again is safe
 */
export async function replayDeadLetter(jobId: string, options: ReplayOptions = {}): Promise<Replayed> {
  const place = { queue: options.queue ?? DEFAULT_QUEUE, prefix: options.prefix ?? DEFAULT_PREFIX };
  const problem = queueNameProblem(place.prefix, place.queue);
  if (problem) throw new ConfigError([problem]);
  // Before it becomes part of a key: "failed" or "meta" would name something else than a job.
  if (typeof jobId !== "string" || !isJobId(jobId)) return { replayed: false, jobId, reason: "not_found" };
  const { deadlineMs = DEFAULT_DEADLINE_MS, log = consoleLog } = options;
  const connection =
    options.connection ??
    createConnection({
      ...(options.redis === undefined ? {} : { redis: options.redis }),
      name: "anvil-replay",
      deadlineMs,
      log,
    });
  try {
    const deadline = deadlineIn(deadlineMs);
    const token = randomUUID();
    const record = replayRecord(options, Date.now());
    const result = await connection.run(deadline, (client) => unbury(client, place, jobId, token, record));
    if (result === "replayed") {
      logReplay(log, jobId, record);
      return { replayed: true, jobId };
    }
    if (result === "not_found") return { replayed: false, jobId, reason: "not_found" };
    const state = await connection.run(deadline, (client) => jobState(client, place, jobId));
    return { replayed: false, jobId, reason: state === "completed" ? "done" : "not_dead" };
  } finally {
    if (!options.connection) await connection.close();
  }
}
