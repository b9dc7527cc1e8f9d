import { lazyPayload } from "../payload-of.ts";
import type { SignatureHeader, Timestamp } from "../provider.ts";
import type { Received } from "../received.ts";
import { encodeSignature } from "./signature-encoding.ts";

/** The signature's header as the provider writes it. */
export function writeSignature(
  signature: SignatureHeader,
  rule: Timestamp | undefined,
  digest: Uint8Array,
  timestamp: string | undefined,
): Record<string, string> {
  const text = encodeSignature(digest, signature.encoding);
  const { layout } = signature;
  const name = signature.numbered ? `${signature.header}-1` : signature.header;
  if (layout.kind === "single") return { [name]: `${layout.prefix ?? ""}${text}` };
  if (layout.kind === "versions") return { [name]: `${layout.version},${text}` };
  const pair = rule && "pair" in rule.from ? [`${rule.from.pair}=${timestamp}`] : [];
  return { [name]: [...pair, `${layout.key}=${text}`].join(layout.separator) };
}

/**
 * Puts the time of signing where the scheme has it: a header, the body, or nowhere yet.
 * @param template a time in the body that it has as a field is signed as a text, and so is one
 */
export function placeTimestamp(
  rule: Timestamp | undefined,
  unsigned: Received,
  nowMs: number,
  template: string,
): {
  readonly timestamp: string | undefined;
  readonly headers: Record<string, string>;
  readonly received: Received;
} {
  if (!rule) return { timestamp: undefined, headers: {}, received: unsigned };
  const seconds = Math.floor(nowMs / 1000);
  const timestamp =
    rule.unit === "rfc3339"
      ? new Date(nowMs).toISOString()
      : String(rule.unit === "s" ? seconds : Math.floor(nowMs));
  if ("header" in rule.from) {
    return { timestamp, headers: { [rule.from.header]: timestamp }, received: unsigned };
  }
  if ("pair" in rule.from) return { timestamp, headers: {}, received: unsigned };
  const isText = rule.unit === "rfc3339" || template.includes(`{field:${rule.from.body}}`);
  const value = isText ? timestamp : Number(timestamp);
  const body = withText(unsigned, rule.from.body, value) ?? unsigned.body;
  return { timestamp: undefined, headers: {}, received: { ...unsigned, body } };
}

/** The JSON body with a value under a dotted path; undefined when it is no JSON object. */
export function withText(received: Received, path: string, value: unknown): Uint8Array | undefined {
  const payload = lazyPayload(received)();
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) return undefined;
  const names = path.split(".");
  const last = names.pop() as string;
  let at = payload as Record<string, unknown>;
  for (const name of names) {
    const next = Object.hasOwn(at, name) ? at[name] : undefined;
    const inner = typeof next === "object" && next !== null ? (next as Record<string, unknown>) : {};
    at[name] = inner;
    at = inner;
  }
  at[last] = value;
  return new TextEncoder().encode(JSON.stringify(payload));
}
