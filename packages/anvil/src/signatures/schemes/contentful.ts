import { createHmac } from "node:crypto";
import { escape as escapeQuery } from "node:querystring";
import type { Head } from "../received.ts";
import { refuse } from "../verdict.ts";
import type { SchemeEngine } from "./engine.ts";
import { equalBytes } from "./equal-bytes.ts";
import { readClaimedSignature } from "./signature-header.ts";
import { checkTimestamp } from "./timestamp.ts";

export const CONTENTFUL = {
  signature: { header: "x-contentful-signature", encoding: "hex", layout: { kind: "single" } },
  timestamp: { from: { header: "x-contentful-timestamp" }, unit: "ms", toleranceS: 30 },
} as const;
const MAX_SIGNED_HEADERS = 50;

/**
 * Contentful signs the method, the path with its query, the headers that a header of its own lists, and the body,
 * with line breaks between them. Its SDK @contentful/node-apps-toolkit 3.16.1, `requests/sign-request`
 */
export const contentfulEngine: SchemeEngine<unknown> = {
  readKey: (_, secret) => (secret.length === 64 ? Buffer.from(secret) : undefined),

  precheck(_, head, nowMs) {
    const claimed = readClaimedSignature(CONTENTFUL, head.header);
    if (!claimed.ok) return claimed;
    return checkTimestamp(CONTENTFUL.timestamp, claimed.timestamp ?? "", nowMs);
  },

  verify(_, received, keys, { nowMs }) {
    const claimed = readClaimedSignature(CONTENTFUL, received.header);
    if (!claimed.ok) return claimed;
    const late = checkTimestamp(CONTENTFUL.timestamp, claimed.timestamp ?? "", nowMs);
    if (late) return late;
    const path = signedPath(received.url);
    if (path === undefined) return refuse("missing_signed_part");
    const headers = signedHeaders(received);
    if (headers === undefined) return refuse("malformed_signed_header");
    for (const key of keys) {
      const digest = createHmac("sha256", key as Uint8Array)
        .update(`${received.method}\n${path}\n${headers}\n`)
        .update(received.body)
        .digest();
      if (claimed.candidates.some((candidate) => equalBytes(candidate, digest))) {
        return { ok: true, signature: digest };
      }
    }
    return refuse("wrong_signature");
  },

  sign(_, unsigned, key, nowMs) {
    const path = signedPath(unsigned.url);
    if (path === undefined) return refuse("missing_signed_part");
    const names = ["x-contentful-signed-headers", "x-contentful-timestamp", "x-contentful-topic"].filter(
      (name) => name !== "x-contentful-topic" || unsigned.header(name) !== undefined,
    );
    const own: Record<string, string> = {
      "x-contentful-signed-headers": names.join(","),
      "x-contentful-timestamp": String(nowMs),
    };
    const headers = signedHeaders({ ...unsigned, header: (name) => own[name] ?? unsigned.header(name) });
    const signature = createHmac("sha256", key as Uint8Array)
      .update(`${unsigned.method}\n${path}\n${headers}\n`)
      .update(unsigned.body)
      .digest("hex");
    return { ok: true, headers: { ...own, "x-contentful-signature": signature } };
  },
};

/** As its SDK has it: the query is escaped as a whole, and then all of it once more. */
function signedPath(url: string): string | undefined {
  const [, path, query] = /^https?:\/\/[^/?#]+(\/[^?#]*)(?:\?([^#]*))?/i.exec(url) ?? [];
  if (path === undefined) return undefined;
  return encodeURI(query ? `${path}?${escapeQuery(query)}` : path);
}

/** The list must hold itself and the timestamp, or either could be changed. */
function signedHeaders({ header }: Head): string | undefined {
  const names = (header("x-contentful-signed-headers") ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase());
  const whole = ["x-contentful-signed-headers", "x-contentful-timestamp"].every((name) =>
    names.includes(name),
  );
  if (!whole || names.length > MAX_SIGNED_HEADERS) return undefined;
  const lines: string[] = [];
  for (const name of names.sort()) {
    const value = header(name);
    if (value === undefined) return undefined;
    lines.push(`${name}:${value.trim()}`);
  }
  return lines.join(";");
}
