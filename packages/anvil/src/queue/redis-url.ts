import { ConfigError } from "../contract/errors.ts";

const PLAIN = "redis://host:6379, or rediss:// for TLS,";
const SENTINEL = "redis-sentinel://host:26379,host:26379/name-of-the-primary, or rediss-sentinel:// for TLS,";

/** A URL that goes by sentinels. @see sentinelUrls */
export function isSentinelUrl(text: string): boolean {
  return /^\s*rediss?-sentinel:/i.test(text);
}

/**
 * One URL for each server, comma or not.
 * @throws {ConfigError} which never repeats the URL, since it may hold a password
 */
export function serverUrls(text: string, setting: string): [URL, ...URL[]] {
  return text.split(/,(?=\s*rediss?:\/\/)/).map((part) => parseUrl(part.trim(), setting, PLAIN)) as [
    URL,
    ...URL[],
  ];
}

/**
 * `redis-sentinel://user:password@host:26379,host:26379/name?db=0` as one URL for each sentinel; the first has the
 * user, the name as its path, and the query.
 * @throws {ConfigError} which never repeats the URL
 */
export function sentinelUrls(text: string, setting: string): [URL, ...URL[]] {
  const [, tls = "", authority = "", rest = ""] =
    /^redis(s?)-sentinel:\/\/([^/?#]*)(.*)$/is.exec(text.trim()) ?? [];
  // The last @ is the one that ends the password; before it a comma or a colon means itself.
  const at = authority.lastIndexOf("@") + 1;
  const user = authority.slice(0, at);
  return authority
    .slice(at)
    .split(",")
    .map((host, index) =>
      parseUrl(`redis${tls}://${index === 0 ? `${user}${host}${rest}` : host}`, setting, SENTINEL),
    ) as [URL, ...URL[]];
}

export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

/** A password pasted as it is may hold a lone percent sign; then it means itself. The URL has encoded the rest. */
export function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}

/** Like the password before the host: percent-encoded, and a plus is a plus. */
export function queryValue(url: URL, name: string): string | undefined {
  const found = url.search
    .slice(1)
    .split("&")
    .find((pair) => pair.startsWith(`${name}=`));
  return found === undefined ? undefined : decoded(found.slice(name.length + 1));
}

function parseUrl(text: string, setting: string, form: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // In a password as it is, "/", "?" and "#" end the host: its first half would be taken for the port, its second
  // be found behind it.
  const misread = url && (url.hash !== "" || url.search.includes("@"));
  if (!url || misread || !/^rediss?:$/.test(url.protocol) || url.hostname === "") {
    throw new ConfigError([
      `${setting}: is no Redis URL; write ${form} with special characters of the password percent-encoded`,
    ]);
  }
  return url;
}
