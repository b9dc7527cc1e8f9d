import { redisAddress } from "webhook-anvil/queue";
import type { Environment } from "../context.ts";

const DEFAULT_URL = "redis://127.0.0.1:6379";

/** @throws {ConfigError} naming REDIS_URL, never its value, which may hold a password */
export function redisUrl(env: Environment): string {
  const url = env.REDIS_URL || DEFAULT_URL;
  redisAddress(url, "REDIS_URL");
  return url;
}
