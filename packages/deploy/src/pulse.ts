import { lambda } from "./lambda.ts";
import { STAGE_VARIABLE } from "./metrics.ts";
import type { RedisAccess } from "./redis.ts";
import type { Settings } from "./settings.ts";

/** Every minute: buries what a crashed worker left behind, and publishes the queue's depth and age. */
export function createPulse(settings: Settings, redis: RedisAccess): sst.aws.Function {
  const pulse = new sst.aws.Function("Pulse", {
    ...lambda("Pulse", settings, redis),
    description: "Anvil: sweeps the queue and publishes its metrics",
    handler: "functions/pulse.handler",
    timeout: "50 seconds",
    memory: "256 MB",
    link: [...redis.links],
    environment: { [STAGE_VARIABLE]: $app.stage },
    // The next minute tries again anyway.
    retries: 0,
  });
  new sst.aws.CronV2("PulseSchedule", { function: pulse.arn, schedule: "rate(1 minute)", retries: 0 });
  return pulse;
}
