import { createHmac, timingSafeEqual } from "node:crypto";
import type { HeaderLookup } from "./headers.ts";
import { signedMessage } from "./message.ts";
import type { HmacScheme } from "./provider.ts";
import type { ClaimedSignature } from "./signature-header.ts";
import { type Refusal, refuse } from "./verdict.ts";

/** The digest of a delivery under one key. */
export function hmacDigest(
  scheme: HmacScheme,
  key: Uint8Array,
  values: { body: Uint8Array; timestamp?: string | undefined; header: HeaderLookup },
): { ok: true; digest: Uint8Array } | Refusal {
  const hmac = createHmac(scheme.hash, key);
  const problem = signedMessage(scheme.message, values, (bytes) => hmac.update(bytes));
  return problem ? refuse(problem) : { ok: true, digest: hmac.digest() };
}

/**
 * Holds every claimed signature against every key that is valid now. One digest a key, however many
 * signatures are claimed, so the cost is bounded by the configuration and not by the sender.
 */
export function verifyHmac(
  scheme: HmacScheme,
  claimed: ClaimedSignature,
  keys: readonly Uint8Array[],
  body: Uint8Array,
  header: HeaderLookup,
): { readonly ok: true; readonly signature: Uint8Array } | Refusal {
  for (const key of keys) {
    const result = hmacDigest(scheme, key, { body, timestamp: claimed.timestamp, header });
    if (!result.ok) return result;
    if (claimed.candidates.some((candidate) => equalBytes(candidate, result.digest))) {
      return { ok: true, signature: result.digest };
    }
  }
  return refuse("wrong_signature");
}

/** Length first, since timingSafeEqual throws on unequal ones and the length is no secret; then constant time. */
function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
