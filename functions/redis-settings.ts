import { type Environment, redisUrlFrom } from "webhook-anvil/config";
import type { ServerOptions } from "webhook-anvil/ingress";

/**
 * Where the ingress finds its Redis: UPSTASH_REDIS_REST_URL with UPSTASH_REDIS_REST_TOKEN, which come first, or
 * REDIS_URL.
 * @throws {ConfigError} when neither is set
 */
export function redisSettings(env: Environment): Pick<ServerOptions, "redis" | "upstash"> {
  const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token } = env;
  return url || token ? { upstash: { url: url ?? "", token: token ?? "" } } : { redis: redisUrlFrom(env) };
}
