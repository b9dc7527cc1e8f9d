import { type DeadLetter, type JobState, jobState, showDead } from "webhook-anvil/queue";
import type { Context } from "../context.ts";
import { Failure } from "../failure.ts";
import { deadLetterJson, deadLetterLines } from "../output/dead-letter.ts";
import { withRedis } from "../redis-session.ts";
import { loadConfig } from "../settings/config-file.ts";
import { encryptionKeys } from "../settings/encryption.ts";
import { checkJobId } from "../settings/job-id.ts";
import { type PlaceOptions, placeIn } from "../settings/queue-place.ts";

export type DeadShowOptions = PlaceOptions & { readonly json?: boolean };

/** One dead letter with everything that is known of it. */
export async function deadShow(context: Context, id: string, options: DeadShowOptions): Promise<number> {
  const { env, stdout } = context;
  const jobId = checkJobId(id);
  const { config } = await loadConfig(context);
  const place = placeIn(config, options, context);
  const keys = encryptionKeys(config, env);
  const found = await withRedis(env, (redis) =>
    redis.run(
      async (client): Promise<DeadLetter | JobState> =>
        (await showDead(client, place, jobId)) ?? (await jobState(client, place, jobId)),
    ),
  );
  if (typeof found === "string")
    throw new Failure(`${jobId} is no dead letter: ${WHERE[found](place.queue)}`);
  if (options.json) stdout.json(deadLetterJson(found, keys));
  else for (const line of deadLetterLines(found, keys, stdout, Date.now(), place)) stdout.line(line);
  return 0;
}

const WHERE: Readonly<Record<JobState, (queue: string) => string>> = {
  waiting: () => "it waits for a worker",
  active: () => "a worker runs it now",
  delayed: () => "it failed, and waits for its next retry",
  completed: () => "it was handled",
  failed: () => "it failed for good a moment ago, and a worker will bury it",
  dead: () => "it was replayed or buried this moment; look again",
  unknown: (queue) => `queue ${queue} has no such job, or handled it and no longer keeps it`,
};
