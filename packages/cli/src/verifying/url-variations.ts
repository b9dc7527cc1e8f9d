import type { Variation } from "./variation.ts";

/**
 * URLs as the provider may have been told them, for those that sign it.
 * @param captured what the request itself tells of its URL
 */
export function urlVariations(url: string, captured: string): Variation[] {
  const found: Variation[] = [];
  const seen = new Set([url]);
  const add = (other: string) => {
    if (other === "" || seen.has(other)) return;
    seen.add(other);
    found.push({
      kind: "url",
      change: `with the URL ${other}`,
      cause: "The provider was told that URL: set it as the source's url, or tell the provider the other one",
      apply: (trial) => ({ ...trial, request: { ...trial.request, url: other } }),
    });
  };
  add(captured);
  for (const base of [url, captured]) {
    for (const other of single(base)) add(other);
  }
  for (const base of [url, captured].flatMap(single)) {
    for (const other of single(base)) add(other);
  }
  return found;
}

/** One change each. Textual, since URL would tidy up what was signed as it was written. */
function single(url: string): string[] {
  const [, scheme = "", host = "", path = "", query = ""] =
    /^(https?):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?/i.exec(url) ?? [];
  if (host === "") return [];
  const other = scheme.toLowerCase() === "https" ? "http" : "https";
  const bare = host.replace(/:\d+$/, "");
  return [
    `${other}://${host}${path}${query}`,
    `${scheme}://${bare}${path}${query}`,
    `${scheme}://${bare}:${scheme === "https" ? 443 : 80}${path}${query}`,
    `${scheme}://${host}${path.endsWith("/") ? path.slice(0, -1) : `${path}/`}${query}`,
    `${scheme}://${host}${path}`,
    `${scheme}://${host.toLowerCase()}${path}${query}`,
    `${scheme}://${host.startsWith("www.") ? host.slice(4) : `www.${host}`}${path}${query}`,
    unescaped(url),
  ];
}

function unescaped(url: string): string {
  try {
    return decodeURI(url);
  } catch {
    return url;
  }
}
