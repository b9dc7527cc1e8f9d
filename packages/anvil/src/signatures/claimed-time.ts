import { valuesAt } from "./json-path.ts";
import { lazyPayload } from "./payload-of.ts";
import type { Scheme, Timestamp } from "./provider.ts";
import type { Received } from "./received.ts";
import { timestampOf } from "./schemes/description.ts";
import { readClaimedSignature } from "./schemes/signature-header.ts";

/** What a delivery says of its own time; nothing is known of its truth. */
export type ClaimedTime = { readonly text?: string; readonly ms?: number };

export function claimedTime(scheme: Scheme, received: Received): ClaimedTime {
  if (scheme.kind === "jwt") return tokenTime(scheme, received);
  const rule = timestampOf(scheme);
  if (!rule) return {};
  const text = timestampText(scheme, rule, received);
  if (text === undefined) return {};
  const ms = rule.unit === "rfc3339" ? Date.parse(text) : Number(text) * (rule.unit === "s" ? 1_000 : 1);
  const plain = rule.unit === "rfc3339" || /^\d{1,15}$/.test(text);
  return { text, ...(plain && Number.isFinite(ms) ? { ms } : {}) };
}

function timestampText(scheme: Scheme, { from }: Timestamp, received: Received): string | undefined {
  if ("header" in from) return received.header(from.header);
  if ("body" in from) {
    const header = scheme.kind === "sns" ? () => undefined : received.header;
    const [value] = valuesAt(lazyPayload({ body: received.body, header })(), from.body);
    return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
  }
  if ((scheme.kind !== "hmac" && scheme.kind !== "public-key") || "field" in scheme.signature)
    return undefined;
  const claimed = readClaimedSignature(
    { signature: scheme.signature, timestamp: { from, unit: "s", toleranceS: "none" } },
    received.header,
  );
  return claimed.ok ? claimed.timestamp : undefined;
}

function tokenTime(scheme: Scheme & { kind: "jwt" }, { header }: Received): ClaimedTime {
  const [, claims = ""] = (header(scheme.header) ?? "").split(".");
  try {
    const read = JSON.parse(Buffer.from(claims, "base64url").toString()) as Record<string, unknown> | null;
    const seconds = scheme.time === "iat" ? read?.iat : (read?.nbf ?? read?.iat ?? read?.exp);
    return typeof seconds === "number" ? { text: String(seconds), ms: seconds * 1_000 } : {};
  } catch {
    return {};
  }
}
