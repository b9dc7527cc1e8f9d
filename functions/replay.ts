import { redisUrlFrom } from "webhook-anvil/config";
import { type Replayed, replayDeadLetter } from "webhook-anvil/replay";
import config from "../anvil.config.ts";
import { functionEnvironment } from "./environment.ts";
import { lambdaLog } from "./lambda-log.ts";

/**
 * `{"jobId":"wh_…"}`, or `{"jobIds":["wh_…", …]}` for several. `by` (default: `lambda`) and `reason` say who asks for
 * it and why: they stay with the job and in the log, cut to 200 characters.
 */
export type ReplayEvent = {
  readonly jobId?: unknown;
  readonly jobIds?: unknown;
  readonly by?: unknown;
  readonly reason?: unknown;
};

/** One letter's outcome, or one for each id that was asked for, in their order. */
export type ReplayResult = Replayed | { readonly results: readonly Replayed[] };

const MAX_IDS = 1_000;

/**
 * Moves dead letters back into the queue. Invoked by hand: from the console with a test event, or with
 * `aws lambda invoke --function-name … --payload '{"jobId":"wh_…"}'`. It has no URL.
 * @throws {TypeError} when the event names no job; nothing is replayed then
 */
export async function handler(event: ReplayEvent): Promise<ReplayResult> {
  const { by, reason } = event ?? {};
  if (!isTextOrAbsent(by) || !isTextOrAbsent(reason)) {
    throw new TypeError("by and reason: texts, or left out");
  }
  const options = {
    by: by?.trim() || "lambda",
    ...(reason === undefined ? {} : { reason }),
    log: lambdaLog,
    redis: redisUrlFrom(functionEnvironment(config, process.env)),
    ...(config.queue === undefined ? {} : { queue: config.queue }),
    ...(config.prefix === undefined ? {} : { prefix: config.prefix }),
  };
  if (typeof event?.jobId === "string" && event.jobIds === undefined) {
    return replayDeadLetter(event.jobId, options);
  }
  const ids = event?.jobIds;
  if (event?.jobId !== undefined || !isIdList(ids)) {
    throw new TypeError(`Invoke with {"jobId":"wh_…"}, or with {"jobIds":["wh_…"]}: 1 to ${MAX_IDS} ids`);
  }
  const results: Replayed[] = [];
  for (const jobId of ids) results.push(await replayDeadLetter(jobId, options));
  return { results };
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

function isIdList(ids: unknown): ids is string[] {
  return (
    Array.isArray(ids) && ids.length > 0 && ids.length <= MAX_IDS && ids.every((id) => typeof id === "string")
  );
}
