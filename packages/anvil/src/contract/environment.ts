import { ConfigError } from "./errors.ts";

/** process.env, or a part of it. The library takes it and never reads it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether a text can be a variable's name, and isn't a secret that stands in its place: errors name variables, and
 * never a secret. Those are known by a provider's beginning, or are as long and as mixed as no name is.
 */
export function isVariableName(text: string): boolean {
  if (!/^[a-z_]\w*$/i.test(text) || /^(whsec|wh[ps]k|[spr]k)_/.test(text)) return false;
  const random = /\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text) && text.length >= 32;
  return !random && !/^[0-9a-f]{24,}$/i.test(text);
}

/**
 * UPSTASH_REDIS_REST_URL with UPSTASH_REDIS_REST_TOKEN, for an ingress, where they come before REDIS_URL. One of the
 * two alone counts as both: what is missing is then empty, and refused by name.
 */
export function upstashFrom(env: Environment): { readonly url: string; readonly token: string } | undefined {
  const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token } = env;
  return url || token ? { url: url ?? "", token: token ?? "" } : undefined;
}

/**
 * REDIS_URL, for entries that have no Redis of their own to fall back to.
 * @throws {ConfigError} when it isn't set
 */
export function redisUrlFrom(env: Environment): string {
  if (!env.REDIS_URL) {
    throw new ConfigError(["REDIS_URL is not set; it says where the queue lies, as in rediss://host:6379"]);
  }
  return env.REDIS_URL;
}
