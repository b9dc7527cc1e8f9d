import type { AnvilConfig } from "webhook-anvil/config";
import { createAlarms } from "./alarms.ts";
import { createIngress } from "./ingress.ts";
import { createNetwork } from "./network.ts";
import { createPulse } from "./pulse.ts";
import { watchedQueue } from "./queue-metrics.ts";
import { createRedis } from "./redis.ts";
import { createReplay } from "./replay.ts";
import { createSecrets, workerSecrets } from "./secrets.ts";
import type { Settings } from "./settings.ts";
import { createWorker } from "./worker.ts";
import { scaleWorker } from "./worker-scaling.ts";

/**
 * Everything of a stage.
 * @param env the environment of `sst deploy`
 * @returns what `sst deploy` prints at its end
 */
export function createInfrastructure(
  settings: Settings,
  config: AnvilConfig<unknown>,
  env: Readonly<Record<string, string | undefined>>,
) {
  const queue = watchedQueue(config);
  const vpc = createNetwork({ redisInside: settings.redis === "elasticache" });
  const redis = createRedis(settings, vpc);
  const secrets = createSecrets(config);
  const ingress = createIngress(settings, redis, [...secrets.values()]);
  const replay = createReplay(settings, redis);
  const pulse = createPulse(settings, redis);
  const cluster = new sst.aws.Cluster("Cluster", { vpc });
  const worker = createWorker(settings, redis, cluster, workerSecrets(config, secrets, env));
  scaleWorker(worker, queue, settings);
  const alarms = createAlarms(settings, {
    queue,
    ingress,
    ...(redis.replicationGroupId ? { replicationGroupId: redis.replicationGroupId } : {}),
  });
  return {
    webhooks: $interpolate`${ingress.url.apply((url) => url.replace(/\/$/, ""))}/webhooks`,
    ingress: ingress.name,
    replay: replay.name,
    pulse: pulse.name,
    cluster: cluster.nodes.cluster.name,
    worker: worker.nodes.service.name,
    alarms: alarms.arn,
  };
}
