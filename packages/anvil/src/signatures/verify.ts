import { readEventFields } from "./fields.ts";
import { type HeaderLookup, type HeaderSource, headerLookup } from "./headers.ts";
import { verifyHmac } from "./hmac.ts";
import type { Provider } from "./provider.ts";
import { type ClaimedSignature, readClaimedSignature } from "./signature-header.ts";
import { checkTimestamp } from "./timestamp.ts";
import type { Refusal } from "./verdict.ts";

export type Verified = {
  readonly ok: true;
  /** The signature that matched, as bytes, whatever its spelling in the header. */
  readonly signature: Uint8Array;
  readonly eventId?: string;
  readonly type?: string;
};

/**
 * The part of the verdict that needs no body: is there a signature that can be read, and is its timestamp
 * inside the window?
 */
export function readClaim(
  provider: Provider,
  header: HeaderLookup,
  nowMs: number,
): ClaimedSignature | Refusal {
  const { scheme } = provider;
  const claimed = readClaimedSignature(scheme, header);
  if (!claimed.ok || !scheme.timestamp || claimed.timestamp === undefined) return claimed;
  return checkTimestamp(scheme.timestamp, claimed.timestamp, nowMs) ?? claimed;
}

/** The rest of the verdict, over the bytes as they came. */
export function verifyClaim(
  provider: Provider,
  claimed: ClaimedSignature,
  body: Uint8Array,
  keys: readonly Uint8Array[],
  header: HeaderLookup,
): Verified | Refusal {
  const result = verifyHmac(provider.scheme, claimed, keys, body, header);
  return result.ok ? { ...result, ...readEventFields(provider, body, header) } : result;
}

/**
 * Is this delivery real, and which event is it? Pure: no I/O, no clock of its own.
 * @param keys every key that is valid now, at least one
 * @param nowMs milliseconds since 1970
 */
export function verifyDelivery(
  provider: Provider,
  delivery: { readonly headers: HeaderSource; readonly body: Uint8Array },
  keys: readonly Uint8Array[],
  nowMs: number,
): Verified | Refusal {
  const header = headerLookup(delivery.headers);
  const claimed = readClaim(provider, header, nowMs);
  return claimed.ok ? verifyClaim(provider, claimed, delivery.body, keys, header) : claimed;
}
