import { REDIS_LINK, redisSecrets } from "./link-names.ts";
import type { Settings } from "./settings.ts";

/** What the others need to know of Redis. */
export type RedisAccess = {
  /** To be linked to the ingress, and to the functions that speak to Redis over TCP. */
  readonly ingressLinks: readonly Linkable[];
  readonly links: readonly Linkable[];
  /** For the workers: `rediss://` with the password in it. Secret. */
  readonly url: $util.Output<string>;
  /** Where a function has to be to reach it. Undefined: anywhere. */
  readonly functionVpc?: Pick<sst.aws.Vpc, "privateSubnets" | "securityGroups">;
  /** The replication group's id, when it is ours. */
  readonly replicationGroupId?: $util.Output<string>;
};

type Linkable = sst.Secret | sst.aws.Redis;

export function createRedis(settings: Settings, vpc: sst.aws.Vpc): RedisAccess {
  if (settings.redis === "elasticache") return createElastiCache(settings, vpc);
  const redisUrl = new sst.Secret(redisSecrets.REDIS_URL);
  const access = { links: [redisUrl], url: redisUrl.value };
  if (settings.redis === "url") return { ...access, ingressLinks: [redisUrl] };
  return {
    ...access,
    ingressLinks: [
      new sst.Secret(redisSecrets.UPSTASH_REDIS_REST_URL),
      new sst.Secret(redisSecrets.UPSTASH_REDIS_REST_TOKEN),
    ],
  };
}

function createElastiCache({ production, protect, redisInstance }: Settings, vpc: sst.aws.Vpc): RedisAccess {
  const redis = new sst.aws.Redis(
    REDIS_LINK,
    {
      vpc,
      engine: "valkey",
      version: "8.0",
      instance: redisInstance,
      // One node's keyspace: a dead letter moves between queues in one script.
      cluster: false,
      // Any other policy would throw away jobs when memory is short; with this one the ingress answers 503.
      parameters: { "maxmemory-policy": "noeviction" },
      transform: {
        cluster: (args) => {
          args.numCacheClusters = production ? 2 : 1;
          args.automaticFailoverEnabled = production;
          args.multiAzEnabled = production;
          args.snapshotRetentionLimit = production ? 7 : 0;
        },
      },
    },
    // What has been acknowledged lies here: a mistake in this file must not take it away.
    { protect: protect === "yes", retainOnDelete: protect === "yes" },
  );
  return {
    ingressLinks: [redis],
    links: [redis],
    url: $interpolate`rediss://${redis.username}:${$util.output(redis.password).apply((password) => encodeURIComponent(password ?? ""))}@${redis.host}:${redis.port}`,
    functionVpc: { privateSubnets: vpc.privateSubnets, securityGroups: vpc.securityGroups },
    replicationGroupId: redis.clusterId,
  };
}
