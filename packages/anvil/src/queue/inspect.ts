import type { FailureContext, PastFailure } from "../contract/dead-letter.ts";
import { type QueuePlace, queueKeys } from "./queue-place.ts";
import type { RedisClient } from "./redis-clients.ts";

/** A dead letter without its body. */
export type DeadLetterSummary = {
  readonly jobId: string;
  /** `stripe/invoice.paid`: source and type. */
  readonly name: string;
  readonly failureContext: FailureContext;
};

export type DeadLetter = DeadLetterSummary & {
  /** The job's data: an envelope, or whatever stood there if it could not be read. */
  readonly data: unknown;
  /** Stacks of the last errors, the newest last. */
  readonly stacktrace: readonly string[];
  /** Its failures before each replay, the oldest first, each with who replayed it and why. */
  readonly failures: readonly PastFailure[];
};

export type QueueStats = {
  readonly waiting: number;
  readonly active: number;
  /** Between two attempts. */
  readonly delayed: number;
  /** Kept for a while after they were done. */
  readonly completed: number;
  /** Failed for good and not buried yet: more than a moment of these means that no worker and no pulse runs. */
  readonly unburied: number;
  readonly dead: number;
  /** Age of the job that waits longest, in milliseconds; 0 when none waits. */
  readonly oldestWaitingMs: number;
};

export type JobState = "waiting" | "active" | "delayed" | "completed" | "failed" | "dead" | "unknown";

/** Dead letters, the newest first. */
export async function listDead(
  client: RedisClient,
  place: QueuePlace,
  page: { readonly offset: number; readonly limit: number },
): Promise<{ readonly total: number; readonly letters: readonly DeadLetterSummary[] }> {
  const { dead } = queueKeys(place);
  const total = await client.zcard(dead("failed"));
  const ids = await client.zrevrange(dead("failed"), page.offset, page.offset + page.limit - 1);
  const rows = await Promise.all(
    ids.map((id) => client.hmget(dead(id), "name", "failureContext", "failedReason", "atm", "finishedOn")),
  );
  const letters = ids.flatMap((jobId, index) => {
    const [name, context, lastError, attempts, failedAt] = rows[index] as (string | null)[];
    // Replayed since the ids were read.
    if (name === null || name === undefined) return [];
    return [{ jobId, name, failureContext: readContext(context, { lastError, attempts, failedAt }) }];
  });
  return { total, letters };
}

/** One dead letter with everything that is known of it; undefined when there is none under this id. */
export async function showDead(
  client: RedisClient,
  place: QueuePlace,
  jobId: string,
): Promise<DeadLetter | undefined> {
  const { dead } = queueKeys(place);
  const job = await client.hgetall(dead(jobId));
  if (job.name === undefined) return undefined;
  return {
    jobId,
    name: job.name,
    failureContext: readContext(job.failureContext, {
      lastError: job.failedReason,
      attempts: job.atm,
      failedAt: job.finishedOn,
    }),
    data: readJson(job.data) ?? job.data,
    stacktrace: (readJson(job.stacktrace) as string[] | undefined) ?? [],
    failures: (readJson(job.failures) as PastFailure[] | undefined) ?? [],
  };
}

/** Whether a job is a dead letter now. */
export async function isDead(client: RedisClient, place: QueuePlace, jobId: string): Promise<boolean> {
  return (await client.zscore(queueKeys(place).dead("failed"), jobId)) !== null;
}

/**
 * Where a job is now, seen in one moment. `unknown`: never seen, or done and no longer kept. Looks through the
 * whole list of waiting jobs: for people, not for every delivery.
 */
export async function jobState(client: RedisClient, place: QueuePlace, jobId: string): Promise<JobState> {
  const { main, dead } = queueKeys(place);
  const replies = await client
    .multi()
    .zscore(dead("failed"), jobId)
    .zscore(main("completed"), jobId)
    .zscore(main("failed"), jobId)
    .zscore(main("delayed"), jobId)
    .lpos(main("active"), jobId)
    .lpos(main("wait"), jobId)
    .lpos(main("paused"), jobId)
    .exec();
  const states: readonly JobState[] = [
    "dead",
    "completed",
    "failed",
    "delayed",
    "active",
    "waiting",
    "waiting",
  ];
  const found = (replies ?? []).findIndex(([error, position]) => {
    if (error) throw error;
    return position !== null;
  });
  return states[found] ?? "unknown";
}

/** Counts, and how long the oldest job has been waiting. */
export async function queueStats(client: RedisClient, place: QueuePlace, nowMs: number): Promise<QueueStats> {
  const { main, dead } = queueKeys(place);
  const [waiting, paused, active, delayed, completed, unburied, deadCount, oldest] = await Promise.all([
    client.llen(main("wait")),
    client.llen(main("paused")),
    client.llen(main("active")),
    client.zcard(main("delayed")),
    client.zcard(main("completed")),
    client.zcard(main("failed")),
    client.zcard(dead("failed")),
    client.lindex(main("wait"), -1),
  ]);
  const since = oldest === null ? null : await client.hget(main(oldest), "timestamp");
  return {
    waiting: waiting + paused,
    active,
    delayed,
    completed,
    unburied,
    dead: deadCount,
    oldestWaitingMs: since ? Math.max(0, nowMs - Number(since)) : 0,
  };
}

type RawFailure = Readonly<Record<"lastError" | "attempts" | "failedAt", string | null | undefined>>;

/** A job that BullMQ tools moved into the dead queue by hand has no context; what its hash says stands in. */
function readContext(context: string | null | undefined, raw: RawFailure): FailureContext {
  const stored = readJson(context) as FailureContext | undefined;
  return (
    stored ?? {
      attempts: Number(raw.attempts ?? 0),
      lastError: raw.lastError ?? "",
      reason: "exhausted",
      failedAt: Number(raw.failedAt ?? 0),
      replays: 0,
    }
  );
}

function readJson(text: string | null | undefined): unknown {
  if (!text) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
