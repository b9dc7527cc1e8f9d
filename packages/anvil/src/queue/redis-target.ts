import type { ConnectionOptions } from "node:tls";
import type { RedisOptions } from "ioredis";
import { ConfigError } from "../contract/errors.ts";

/**
 * Which Redis: a URL (`redis://`, or `rediss://` for TLS), or a URL with what doesn't fit into one.
 * `redis://user:password@host:6379/0`; percent-encode special characters of the password. For a Redis Cluster
 * add `?cluster=true`, or write several URLs with commas between them.
 */
export type RedisTarget = string | RedisTargetOptions;

export type RedisTargetOptions = {
  readonly url: string;
  /** The servers are a Redis Cluster. Default: only when the URL says so. */
  readonly cluster?: boolean;
  /** For `rediss://`: a private CA, a client certificate. */
  readonly tls?: ConnectionOptions;
};

export const DEFAULT_REDIS_URL = "redis://127.0.0.1:6379";

/** A target taken apart, in ioredis's words. Holds the password: never log it. */
export type RedisAddress = {
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  readonly cluster: boolean;
  readonly auth: Pick<RedisOptions, "username" | "password" | "db" | "tls" | "family">;
};

/**
 * @param setting how the setting is called in an error: REDIS_URL, or the option's name
 * @throws {ConfigError} which never repeats the URL, since it may hold a password
 */
export function redisAddress(target: RedisTarget, setting = "redis"): RedisAddress {
  const options = typeof target === "string" ? { url: target } : target;
  const urls = options.url.split(/,(?=\s*rediss?:\/\/)/).map((text) => parseUrl(text.trim(), setting));
  const first = urls[0] as URL;
  const cluster = options.cluster ?? (urls.length > 1 || first.searchParams.get("cluster") === "true");
  if (urls.some((url) => url.protocol !== first.protocol)) {
    throw new ConfigError([`${setting}: mixes redis:// and rediss://; use one of them for every node`]);
  }
  const db = first.pathname.replace(/^\//, "");
  if (!/^\d{0,4}$/.test(db)) {
    throw new ConfigError([`${setting}: what follows the host is the database's number, as in /0`]);
  }
  if (cluster && Number(db) !== 0) {
    throw new ConfigError([`${setting}: a Redis Cluster has database 0 only`]);
  }
  const secure = first.protocol === "rediss:";
  if (options.tls && !secure) {
    throw new ConfigError([`${setting}: has TLS options but starts with redis://; write rediss://`]);
  }
  const family = Number(first.searchParams.get("family"));
  return {
    nodes: urls.map((url) => ({ host: hostOf(url), port: url.port ? Number(url.port) : 6379 })),
    cluster,
    auth: {
      ...(first.username ? { username: decoded(first.username) } : {}),
      ...(first.password ? { password: decoded(first.password) } : {}),
      ...(db && !cluster ? { db: Number(db) } : {}),
      ...(family === 4 || family === 6 ? { family } : {}),
      ...(secure ? { tls: { ...options.tls } } : {}),
    },
  };
}

/** Host, port and database, for logs and errors; without user and password. */
export function describeAddress(address: RedisAddress): string {
  const nodes = address.nodes.map(({ host, port }) => `${host}:${port}`).join(",");
  const tls = address.auth.tls ? " (TLS)" : "";
  return `${nodes}${address.auth.db ? `/${address.auth.db}` : ""}${tls}`;
}

function parseUrl(text: string, setting: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // In a password as it is, "/", "?" and "#" end the host: its first half would be taken for the port, its second
  // be found behind it.
  const misread = url && (url.hash !== "" || url.search.includes("@"));
  if (!url || misread || !/^rediss?:$/.test(url.protocol) || url.hostname === "") {
    throw new ConfigError([
      `${setting}: is no Redis URL; write redis://host:6379, or rediss:// for TLS, ` +
        "with special characters of the password percent-encoded",
    ]);
  }
  return url;
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

/** A password pasted as it is may hold a lone percent sign; then it means itself. The URL has encoded the rest. */
function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}
