import { upstashFrom } from "webhook-anvil/config";
import type { ServerOptions } from "webhook-anvil/ingress";
import { describeAddress, redisAddress } from "webhook-anvil/queue";
import type { Environment } from "../context.ts";
import { redisUrl } from "../settings/redis-url.ts";

export type EventStoreSettings = {
  readonly options: Pick<ServerOptions, "redis" | "upstash">;
  /** Where that is, without user, password or token. */
  readonly where: string;
};

/**
 * Where the ingress stores events, as its Lambda function has it: UPSTASH_REDIS_REST_URL with its token, which come
 * first, or REDIS_URL. Everything else of the command line speaks to the same database by REDIS_URL.
 */
export function eventStoreSettings(env: Environment): EventStoreSettings {
  const upstash = upstashFrom(env);
  if (upstash) {
    const host = URL.canParse(upstash.url) ? new URL(upstash.url).host : "unreadable";
    return { options: { upstash }, where: `${host} (REST)` };
  }
  const redis = redisUrl(env);
  return { options: { redis }, where: describeAddress(redisAddress(redis)) };
}
