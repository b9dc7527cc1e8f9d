import type { ConnectionOptions } from "node:tls";
import type { RedisOptions } from "ioredis";
import { ConfigError } from "../contract/errors.ts";
import { decoded, hostOf, isSentinelUrl, queryValue, sentinelUrls, serverUrls } from "./redis-url.ts";

/**
 * Which Redis: a URL (`redis://`, or `rediss://` for TLS), or a URL with what doesn't fit into one.
 * `redis://user:password@host:6379/0`; percent-encode special characters of the password. For a Redis Cluster
 * add `?cluster=true`, or write several URLs with commas between them.
 *
 * Where sentinels know the primary: `redis-sentinel://user:password@host:26379,host:26379/name?db=0`, or
 * `rediss-sentinel://` for TLS to both. User, password and db are the primary's; the sentinels' own are
 * `sentinelUsername` and `sentinelPassword` in the query, or in the option.
 */
export type RedisTarget = string | RedisTargetOptions;

export type RedisTargetOptions = {
  readonly url: string;
  /** The servers are a Redis Cluster. Default: only when the URL says so. */
  readonly cluster?: boolean;
  /** For `rediss://`: a private CA, a client certificate. */
  readonly tls?: ConnectionOptions;
  /** For `redis-sentinel://`: where the sentinels differ from the primary. */
  readonly sentinel?: SentinelOptions;
};

export type SentinelOptions = {
  /** Default: none. */
  readonly username?: string;
  /** Default: none. A sentinel's password is its own, also where it is the same as the primary's. */
  readonly password?: string;
  /** Default: as for the primary. `false`: none, although the primary has it. */
  readonly tls?: ConnectionOptions | false;
};

export const DEFAULT_REDIS_URL = "redis://127.0.0.1:6379";

/** A target taken apart, in ioredis's words. Holds the password: never log it. */
export type RedisAddress = {
  /** The servers, or the sentinels when there is `sentinel`. */
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  readonly cluster: boolean;
  readonly auth: Pick<RedisOptions, "username" | "password" | "db" | "tls" | "family">;
  /** How to ask the sentinels for the primary. */
  readonly sentinel?: { readonly name: string } & Pick<
    RedisOptions,
    "sentinelUsername" | "sentinelPassword" | "sentinelTLS"
  >;
};

/**
 * @param setting how the setting is called in an error: REDIS_URL, or the option's name
 * @throws {ConfigError} which never repeats the URL, since it may hold a password
 */
export function redisAddress(target: RedisTarget, setting = "redis"): RedisAddress {
  const options = typeof target === "string" ? { url: target } : target;
  if (isSentinelUrl(options.url)) return sentinelAddress(options, setting);
  const urls = serverUrls(options.url, setting);
  const [first] = urls;
  const cluster = options.cluster ?? (urls.length > 1 || first.searchParams.get("cluster") === "true");
  if (urls.some((url) => url.protocol !== first.protocol)) {
    throw new ConfigError([`${setting}: mixes redis:// and rediss://; use one of them for every node`]);
  }
  if (options.sentinel) {
    throw new ConfigError([`${setting}: has sentinel options but no sentinels; write redis-sentinel://`]);
  }
  const db = first.pathname.replace(/^\//, "");
  if (!/^\d{0,4}$/.test(db)) {
    throw new ConfigError([`${setting}: what follows the host is the database's number, as in /0`]);
  }
  if (cluster && Number(db) !== 0) {
    throw new ConfigError([`${setting}: a Redis Cluster has database 0 only`]);
  }
  return {
    nodes: nodesOf(urls, 6379),
    cluster,
    auth: authOf(first, options, cluster ? "" : db, setting),
  };
}

function sentinelAddress(options: RedisTargetOptions, setting: string): RedisAddress {
  const urls = sentinelUrls(options.url, setting);
  const [first] = urls;
  const name = first.pathname.replace(/^\//, "");
  // What sentinels take for a name. A half of a password that holds a slash is never one: an @ comes after it.
  if (!/^[\w.-]+$/.test(name)) {
    throw new ConfigError([
      `${setting}: the sentinels' name for the primary follows their hosts, as in redis-sentinel://host:26379/mymaster`,
    ]);
  }
  const db = queryValue(first, "db") ?? "";
  if (!/^\d{0,4}$/.test(db)) {
    throw new ConfigError([`${setting}: db is the database's number, as in ?db=0`]);
  }
  if (options.cluster ?? first.searchParams.get("cluster") === "true") {
    throw new ConfigError([`${setting}: a Redis Cluster has no sentinels; write redis:// and ?cluster=true`]);
  }
  const auth = authOf(first, options, db, setting);
  const username = options.sentinel?.username ?? queryValue(first, "sentinelUsername");
  const password = options.sentinel?.password ?? queryValue(first, "sentinelPassword");
  const tls = options.sentinel?.tls ?? auth.tls;
  return {
    nodes: nodesOf(urls, 26_379),
    cluster: false,
    auth,
    sentinel: {
      name,
      ...(username ? { sentinelUsername: username } : {}),
      ...(password ? { sentinelPassword: password } : {}),
      ...(tls ? { sentinelTLS: tls } : {}),
    },
  };
}

/** Host, port and database, for logs and errors; without user and password. */
export function describeAddress(address: RedisAddress): string {
  const nodes = address.nodes.map(({ host, port }) => `${host}:${port}`).join(",");
  const tls = address.auth.tls ? " (TLS)" : "";
  const db = address.auth.db ? `/${address.auth.db}` : "";
  const { sentinel } = address;
  return sentinel ? `${sentinel.name}${db}${tls} by the sentinels ${nodes}` : `${nodes}${db}${tls}`;
}

function nodesOf(urls: readonly URL[], defaultPort: number): RedisAddress["nodes"] {
  return urls.map((url) => ({ host: hostOf(url), port: url.port ? Number(url.port) : defaultPort }));
}

function authOf(first: URL, options: RedisTargetOptions, db: string, setting: string): RedisAddress["auth"] {
  const secure = first.protocol === "rediss:";
  if ((options.tls || options.sentinel?.tls) && !secure) {
    const [has, write] = isSentinelUrl(options.url)
      ? ["redis-sentinel://", "rediss-sentinel://"]
      : ["redis://", "rediss://"];
    throw new ConfigError([`${setting}: has TLS options but starts with ${has}; write ${write}`]);
  }
  const family = Number(first.searchParams.get("family"));
  return {
    ...(first.username ? { username: decoded(first.username) } : {}),
    ...(first.password ? { password: decoded(first.password) } : {}),
    ...(db ? { db: Number(db) } : {}),
    ...(family === 4 || family === 6 ? { family } : {}),
    ...(secure ? { tls: { ...options.tls } } : {}),
  };
}
