import { type Environment, redisUrlFrom, upstashFrom } from "webhook-anvil/config";
import type { ServerOptions } from "webhook-anvil/ingress";

/**
 * Where the ingress finds its Redis: UPSTASH_REDIS_REST_URL with UPSTASH_REDIS_REST_TOKEN, which come first, or
 * REDIS_URL.
 * @throws {ConfigError} when neither is set
 */
export function redisSettings(env: Environment): Pick<ServerOptions, "redis" | "upstash"> {
  const upstash = upstashFrom(env);
  return upstash ? { upstash } : { redis: redisUrlFrom(env) };
}
