import { lambda } from "./lambda.ts";
import type { RedisAccess } from "./redis.ts";
import type { Settings } from "./settings.ts";

/** The function that moves dead letters back. It has no URL and nothing may invoke it but whom IAM permits to. */
export function createReplay(settings: Settings, redis: RedisAccess): sst.aws.Function {
  return new sst.aws.Function("Replay", {
    ...lambda("Replay", settings, redis),
    description: 'Anvil: replays dead letters; invoke with {"jobId":"wh_…"}',
    handler: "functions/replay.handler",
    // As long as Lambda allows: a bulk replay may move many letters at a slow rate.
    timeout: "15 minutes",
    memory: "512 MB",
    link: [...redis.links],
    // A replay that failed halfway is for the one who asked for it to repeat.
    retries: 0,
  });
}
