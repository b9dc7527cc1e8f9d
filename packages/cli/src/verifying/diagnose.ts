import {
  type Check,
  explainRequest,
  type FetchKey,
  type Provider,
  providers,
  type RefusalReason,
} from "webhook-anvil/signatures";
import type { Capture } from "./capture.ts";
import { type Reason, reasonOf } from "./reasons.ts";
import type { Trial } from "./variation.ts";
import { type Search, whatWouldPass } from "./what-would-pass.ts";

/** All that can be said of a captured delivery. Holds no secret, no signature and nothing of the body but its ids. */
export type Diagnosis = {
  readonly ok: boolean;
  readonly reason?: RefusalReason;
  readonly checks: readonly Check[];
  readonly eventId?: string;
  readonly type?: string;
  readonly explained?: Reason;
  /** For one that is refused for its time alone: when, in seconds since 1970, it would have been accepted. */
  readonly passesAt?: number;
  /** What is wrong with it beside its time, where its time is wrong. */
  readonly besides?: RefusalReason;
  readonly search?: Search;
  /** Providers whose signature it seems to have, where the one that is asked for has none. */
  readonly looksLike: readonly string[];
};

/**
 * Verifies a delivery, and looks for what would make it pass when it is refused.
 * @param options.url the one that is signed, where the provider signs it
 * @throws {KeyUnavailable} when a certificate or key could not be fetched: no verdict
 */
export async function diagnose(
  provider: Provider,
  capture: Capture,
  options: {
    readonly secrets: readonly string[];
    readonly url: string;
    readonly nowMs: number;
    readonly fetchKey?: FetchKey;
  },
): Promise<Diagnosis> {
  const { secrets, url, nowMs, fetchKey } = options;
  const request = { method: capture.method, url, headers: capture.headers, body: capture.body };
  const explain = (now: number) =>
    explainRequest(provider, request, { secrets, now, ...(fetchKey ? { fetchKey } : {}) });
  const { verdict, checks, signedAtMs } = await explain(nowMs);
  if (verdict.ok) {
    const { eventId, type } = verdict;
    return { ok: true, checks, looksLike: [], ...(eventId ? { eventId } : {}), ...(type ? { type } : {}) };
  }
  const { reason } = verdict;
  const refused = { ok: false, reason, checks, explained: reasonOf(reason, provider) } as const;
  const late = reason.startsWith("timestamp_") && signedAtMs !== undefined;
  const atItsTime = late ? (await explain(signedAtMs)).verdict : verdict;
  if (atItsTime.ok) return { ...refused, passesAt: Math.floor((signedAtMs ?? 0) / 1_000), looksLike: [] };
  const trial: Trial = { provider, request, secrets };
  const search = await whatWouldPass(trial, signedAtMs ?? nowMs, { capturedUrl: capture.url });
  const unsigned = reason === "missing_signature" || reason === "malformed_signature";
  return {
    ...refused,
    ...(late ? { besides: atItsTime.reason } : {}),
    search,
    looksLike: unsigned && search.hints.length === 0 ? await signedLike(provider, request) : [],
  };
}

/** Headers that are this provider's and hardly anybody else's tell more than the name on the configuration. */
async function signedLike(provider: Provider, request: Trial["request"]): Promise<string[]> {
  const names: string[] = [];
  for (const [name, other] of providers) {
    const kinds = [other.scheme].flat().map(({ kind }) => kind);
    if (
      name === provider.name ||
      kinds.some((kind) => !/^(hmac|public-key|twilio|contentful|paypal)$/.test(kind))
    )
      continue;
    const { checks } = await explainRequest(other, request, { secrets: [], now: 0 });
    const read = checks.filter((check) => /^(signature|form)$/.test(check.name));
    if (read.length === 2 && read.every(({ state }) => state === "passed")) names.push(name);
  }
  return names;
}
