import { userInfo } from "node:os";
import type { Log, ReplayedBy } from "webhook-anvil";
import { silentLog } from "webhook-anvil/config";
import { type Replayed, replayDeadLetter } from "webhook-anvil/replay";
import type { Context, Environment } from "../context.ts";
import { UsageError } from "../failure.ts";
import { createLogger } from "../logger.ts";
import { oneLine } from "../output/plain-text.ts";
import { DEADLINE_MS } from "../redis-session.ts";
import { checkJobId } from "../settings/job-id.ts";
import { type PlaceOptions, queuePlace } from "../settings/queue-place.ts";
import { redisUrl } from "../settings/redis-url.ts";

export type ReplayOptions = PlaceOptions & {
  readonly json?: boolean;
  /** The deployed replay function that does it, in place of a connection to Redis from here. */
  readonly function?: string;
  /** Who replays. Default: the user of the operating system. */
  readonly by?: string;
  readonly reason?: string;
};

/** Puts dead letters back into the queue, one after the other. @returns 1 when one of them was not replayed */
export async function replay(context: Context, ids: string[], options: ReplayOptions): Promise<number> {
  const { env, stdout, stderr } = context;
  const jobIds = ids.map(checkJobId);
  const { queue, prefix } = await queuePlace(options, context);
  const asked = replayedBy(options);
  const log = await auditLog(context);
  const results: Replayed[] = [];
  for (const jobId of jobIds) {
    const result =
      options.function === undefined
        ? await replayDeadLetter(jobId, {
            redis: redisUrl(env),
            ...{ ...asked, queue, prefix, deadlineMs: DEADLINE_MS, log },
          })
        : await byFunction(options.function, jobId, asked, options, env);
    results.push(result);
    if (!result.replayed) stderr.line(`anvil: not replayed: ${REASONS[result.reason](jobId, queue)}`);
    else if (!options.json) {
      stdout.line(
        `Replayed: ${jobId} is back in queue ${queue} under the same id, with its full retry schedule ` +
          `(recorded: by ${oneLine(asked.by)}${asked.reason === undefined ? "" : `, ${oneLine(asked.reason)}`}).`,
      );
    }
  }
  if (options.json) stdout.json(results.length === 1 ? results[0] : { results });
  return results.every(({ replayed }) => replayed) ? 0 : 1;
}

function replayedBy({ by, reason }: ReplayOptions): ReplayedBy {
  return { by: by?.trim() || userName(), ...(reason?.trim() ? { reason } : {}) };
}

/** In a container the number that a process runs under may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? "unknown"}`;
  }
}

/** The audit line is for what collects logs; a person at a terminal is told on the other stream. */
async function auditLog({ stderr }: Context): Promise<Log> {
  if (stderr.interactive) return silentLog;
  // What fails is told once, by the error that ends the command.
  const log = await createLogger(stderr);
  return { ...silentLog, info: (fields, message) => log.info(fields, message) };
}

async function byFunction(
  name: string,
  jobId: string,
  asked: ReplayedBy,
  { queue, prefix }: PlaceOptions,
  env: Environment,
): Promise<Replayed> {
  if (queue !== undefined || prefix !== undefined) {
    throw new UsageError(
      "--function replays in the queue that it was deployed with; leave out --queue and --prefix",
    );
  }
  const { replayByFunction } = await import("../invoking/replay-function.ts");
  return replayByFunction(name, jobId, asked, env);
}

type Reason = Extract<Replayed, { replayed: false }>["reason"];

const REASONS: Readonly<Record<Reason, (jobId: string, queue: string) => string>> = {
  not_found: (jobId, queue) => `queue ${queue} has no job ${jobId}, or handled it and no longer keeps it`,
  not_dead: (jobId) =>
    `${jobId} is no dead letter but in the queue, perhaps replayed by somebody else just now`,
  done: (jobId) => `${jobId} was handled`,
};
