import { redisAddress } from "webhook-anvil/queue";
import type { Environment } from "../context.ts";
import { Failure } from "../failure.ts";

const DEFAULT_URL = "redis://127.0.0.1:6379";

/** @throws {ConfigError} naming REDIS_URL, never its value, which may hold a password */
export function redisUrl(env: Environment): string {
  if (env.REDIS_URL === "") throw new Failure(`REDIS_URL is empty; set it, or unset it for ${DEFAULT_URL}`);
  const url = env.REDIS_URL ?? DEFAULT_URL;
  redisAddress(url, "REDIS_URL");
  return url;
}
