import { DEFAULT_REDIS_URL, redisAddress } from "webhook-anvil/queue";
import type { Environment } from "../context.ts";
import { Failure } from "../failure.ts";

/** @throws {ConfigError} naming REDIS_URL, never its value, which may hold a password */
export function redisUrl(env: Environment): string {
  if (env.REDIS_URL === "")
    throw new Failure(`REDIS_URL is empty; set it, or unset it for ${DEFAULT_REDIS_URL}`);
  const url = env.REDIS_URL ?? DEFAULT_REDIS_URL;
  redisAddress(url, "REDIS_URL");
  return url;
}
