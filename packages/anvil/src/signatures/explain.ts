import { signedParts, wordsOf } from "./check-words.ts";
import { claimedTime } from "./claimed-time.ts";
import type { Provider, Scheme } from "./provider.ts";
import { type ProviderName, providers } from "./providers/index.ts";
import type { Received } from "./received.ts";
import { timestampOf } from "./schemes/description.ts";
import { engineOf, keyedSchemes, schemeFor, schemesOf } from "./schemes/index.ts";
import { signsUrl } from "./schemes/traits.ts";
import type { RefusalReason } from "./verdict.ts";
import {
  type RequestToVerify,
  readRequest,
  type Verdict,
  type VerifyOptions,
  verifyRequest,
} from "./verify.ts";

/** One step of a verification. No secret, signature or body is in it. */
export type Check = {
  readonly name: CheckName;
  readonly state: "passed" | "failed" | "not_reached";
  /** What the provider's scheme wants, in words. */
  readonly expected: string;
  /** What the request has instead, or how far off it is. */
  readonly found?: string;
};

export type CheckName =
  | "signature"
  | "form"
  | "timestamp"
  | "topic"
  | "certificate"
  | "url"
  | "parts"
  | "key"
  | "match"
  | "body";

export type Explanation = {
  readonly verdict: Verdict;
  /** Those that the provider's scheme has, in the order in which a person would look. */
  readonly checks: readonly Check[];
  /** When the sender says that it signed, in milliseconds since 1970; a token's end where it has no beginning. */
  readonly signedAtMs?: number;
};

/**
 * As `verifyRequest`, with every step on the way: for the person who has to find out why a delivery is refused. Not
 * for answering senders: it tells a forger what to do better.
 * @throws as `verifyRequest`
 */
export async function explainRequest(
  provider: ProviderName | Provider,
  request: RequestToVerify,
  options: VerifyOptions,
): Promise<Explanation> {
  const verdict = await verifyRequest(provider, request, options);
  const row = (typeof provider === "string" ? providers.get(provider) : provider) as Provider;
  const received = readRequest(request);
  const keyed = keyedSchemes(row, options.secrets);
  const unkeyed = schemesOf(row).map((scheme) => ({ scheme, keys: [] }));
  const { scheme, keys } = schemeFor(keyed.length > 0 ? keyed : unkeyed, received) as (typeof keyed)[number];
  const claimed = claimedTime(scheme, received);

  const reasons = new Set<RefusalReason>();
  if (!verdict.ok) reasons.add(verdict.reason);
  // Without a key there is no verdict on the rest, but what the headers tell can be told.
  const head = keys.length === 0 ? precheck(scheme, received, options.now) : undefined;
  if (head) reasons.add(head);
  const failed = new Set([...reasons].map((reason) => checkOf(reason, scheme, received)));
  if (scheme.kind === "jwt" && failed.has("match") && (await tokenIsRight(row, request, options))) {
    failed.delete("match");
    failed.add("body");
  }

  const words = wordsOf(row, scheme, received, { nowMs: options.now, claimed, keys: keys.length });
  let reached = true;
  const checks = withUnforeseen(orderOf(scheme, received), failed).map((name): Check => {
    const known = keys.length > 0 || inHeaders(scheme, name);
    const state = failed.has(name)
      ? "failed"
      : name === "key"
        ? "passed"
        : reached && known
          ? "passed"
          : "not_reached";
    if (state === "failed") reached = false;
    return { name, state, ...words(name, state) };
  });
  return { verdict, checks, ...(claimed.ms === undefined ? {} : { signedAtMs: claimed.ms }) };
}

function precheck(scheme: Scheme, received: Received, nowMs: number): RefusalReason | undefined {
  try {
    return engineOf(scheme).precheck(scheme, received, nowMs)?.reason;
  } catch {
    return "malformed_signature";
  }
}

/** A token's time is checked after its signature and before the body: when none is valid, the reason tells which. */
async function tokenIsRight(
  provider: Provider,
  request: RequestToVerify,
  options: Parameters<typeof verifyRequest>[2],
): Promise<boolean> {
  const verdict = await verifyRequest(provider, request, { ...options, now: Number.MAX_SAFE_INTEGER });
  return !verdict.ok && verdict.reason === "timestamp_too_old";
}

function orderOf(scheme: Scheme, { header }: Received): readonly CheckName[] {
  switch (scheme.kind) {
    case "hmac":
    case "public-key": {
      const names: CheckName[] = ["signature", "form"];
      if (scheme.timestamp) names.push("timestamp");
      if (signsUrl(scheme)) names.push("url");
      if (signedParts(scheme).length > 0) names.push("parts");
      return [...names, "key", "match"];
    }
    case "jwt":
      return [
        "signature",
        "form",
        "key",
        "match",
        "timestamp",
        "body",
        ...(scheme.urlHash ? ["url" as const] : []),
      ];
    case "twilio":
      return ["signature", "form", "url", "key", "match"];
    case "contentful":
      return ["signature", "form", "timestamp", "url", "parts", "key", "match"];
    case "paypal":
      return ["signature", "form", "key", "certificate", "match"];
    case "sns":
      return ["signature", "form", "timestamp", "key", "topic", "certificate", "match"];
    case "adyen":
      return header("hmacsignature")
        ? ["signature", "form", "key", "match"]
        : ["signature", "form", "parts", "key", "match"];
    default:
      return ["signature", "form", "key", "match"];
  }
}

/** A refusal that the scheme gives in a rare case, such as a body that can't be signed, has its place all the same. */
function withUnforeseen(order: readonly CheckName[], failed: ReadonlySet<CheckName>): readonly CheckName[] {
  const more = [...failed].filter((name) => !order.includes(name));
  const at = order.includes("key") ? order.indexOf("key") : order.length;
  return [...order.slice(0, at), ...more, ...order.slice(at)];
}

function checkOf(reason: RefusalReason, scheme: Scheme, { url }: Received): CheckName {
  switch (reason) {
    case "missing_signature":
      return "signature";
    case "malformed_signature":
      return "form";
    case "missing_timestamp":
    case "malformed_timestamp":
    case "timestamp_too_old":
    case "timestamp_in_future":
      return "timestamp";
    case "missing_signed_part":
      return signsUrl(scheme) && url === "" ? "url" : "parts";
    case "missing_signed_header":
    case "malformed_signed_header":
      return "parts";
    case "no_key":
      return "key";
    case "untrusted_certificate":
      return "certificate";
    case "other_topic":
      return "topic";
    case "wrong_signature":
      return "match";
  }
}

/** Whether a check looks at headers alone, so that it has a result without a key. */
function inHeaders(scheme: Scheme, name: CheckName): boolean {
  if (name === "signature" || name === "form") {
    if (scheme.kind === "hmac") return !("field" in scheme.signature);
    if (scheme.kind === "token") return "header" in scheme.from;
    return !/^(adyen|braintree|sns)$/.test(scheme.kind);
  }
  const rule = timestampOf(scheme);
  return name === "timestamp" && rule !== undefined && !("body" in rule.from);
}
