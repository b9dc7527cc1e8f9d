import {
  type ConfigWithSecrets,
  configSecrets,
  linkName,
  REDIS_LINK,
  redisSecrets,
} from "anvil-deploy/link-names";
import { Resource } from "sst/resource";
import type { Environment } from "webhook-anvil/config";

/**
 * The environment, and what sst.config.ts linked to this function under the names that the environment would have:
 * WEBHOOK_SECRET from the secret WebhookSecret, REDIS_URL from the Redis or the secret RedisUrl. A variable that is
 * set wins, so that a function runs anywhere else from plain variables.
 */
export function functionEnvironment(config: ConfigWithSecrets, env: Environment): Environment {
  const variables = [...configSecrets(config).map(({ variable }) => variable), ...Object.keys(redisSecrets)];
  const linked: Record<string, string> = {};
  const redis = link(REDIS_LINK);
  if (redis) linked.REDIS_URL = redisUrl(redis);
  for (const variable of variables) {
    const value = link(linkName(variable))?.value;
    if (typeof value === "string") linked[variable] = value;
  }
  return { ...linked, ...env };
}

/** Undefined: not linked, or not running under SST. */
function link(name: string): Readonly<Record<string, unknown>> | undefined {
  return name in Resource
    ? (Resource as unknown as Record<string, Record<string, unknown>>)[name]
    : undefined;
}

/** ElastiCache with a token speaks TLS only. */
function redisUrl({ host, port, username, password }: Readonly<Record<string, unknown>>): string {
  return `rediss://${encodeURIComponent(String(username))}:${encodeURIComponent(String(password))}@${host}:${port}`;
}
