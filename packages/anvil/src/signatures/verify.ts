import { readEventFields } from "./fields.ts";
import { handshakeOf } from "./handshakes/index.ts";
import { type HeaderSource, headerLookup } from "./headers.ts";
import type { Provider } from "./provider.ts";
import { type ProviderName, providers } from "./providers/index.ts";
import type { Head, Received } from "./received.ts";
import { KeyUnavailable, type Moment, type Proof } from "./schemes/engine.ts";
import { engineOf, type KeyedScheme, keyedSchemes, schemeFor } from "./schemes/index.ts";
import { type Refusal, refuse } from "./verdict.ts";

export type Verified = {
  readonly ok: true;
  /** The signature that matched, as bytes, whatever its spelling in the header. */
  readonly signature: Uint8Array;
  /** What it covers of the body, where that isn't the bytes as they are. */
  readonly covers?: Uint8Array;
  readonly eventId?: string;
  readonly type?: string;
};

/**
 * The part of the verdict that needs no body: is there a signature that can be read, and is its timestamp
 * inside the window?
 */
export function checkHead(schemes: readonly KeyedScheme[], head: Head, nowMs: number): Refusal | undefined {
  const keyed = schemeFor(schemes, head);
  if (!keyed) return refuse("no_key");
  try {
    return engineOf(keyed.scheme).precheck(keyed.scheme, head, nowMs);
  } catch {
    return UNREADABLE;
  }
}

/** Whatever a hostile delivery does to a parser, the answer is a refusal and never a crash. */
const UNREADABLE: Refusal = refuse("malformed_signature");

/**
 * Is this delivery real, and which event is it? A promise only where a key has to be fetched.
 * @throws {KeyUnavailable} when a certificate or key could not be fetched: no verdict
 */
export function verifyReceived(
  provider: Provider,
  schemes: readonly KeyedScheme[],
  received: Received,
  moment: Moment,
): Verified | Refusal | Promise<Verified | Refusal> {
  const keyed = schemeFor(schemes, received);
  if (!keyed) return refuse("no_key");
  const { scheme, keys } = keyed;
  const conclude = (proof: Proof | Refusal): Verified | Refusal => {
    if (!proof.ok) return proof;
    if (handshakeOf(provider)?.couldSign?.(received)) return refuse("wrong_signature");
    return { ...proof, ...readEventFields(provider, received) };
  };
  try {
    const proof = engineOf(scheme).verify(scheme, received, keys, moment);
    if (!(proof instanceof Promise)) return conclude(proof);
    return proof.then(conclude, (error: unknown) => {
      if (error instanceof KeyUnavailable) throw error;
      return UNREADABLE;
    });
  } catch {
    return UNREADABLE;
  }
}

/** A request as people have it: from a test, a log, another framework. */
export type RequestToVerify = {
  /** Default: POST. */
  readonly method?: string;
  /** The public URL with its query; only some providers sign it. */
  readonly url?: string;
  readonly headers: HeaderSource;
  /** The bytes as they came; a text counts as UTF-8. */
  readonly body: Uint8Array | string;
};

export type VerifyOptions = {
  /** Every one that is valid now. */
  readonly secrets: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Gets certificates and keys for PayPal, SNS and Plaid: `httpsKeys()`, or your own. */
  readonly fetchKey?: Moment["fetchKey"];
};

export type Verdict = { readonly ok: true; readonly eventId?: string; readonly type?: string } | Refusal;

/**
 * Is this request really from the provider, and which event is it? For other frameworks, and for finding out why a
 * delivery is refused. Keeps nothing and opens nothing, but for what `fetchKey` does.
 * @param provider a name such as `"stripe"`, or a row of your own
 * @throws {KeyUnavailable} when one could not be fetched: no verdict, ask the sender to come again
 * @throws {TypeError} for a provider that isn't known
 */
export async function verifyRequest(
  provider: ProviderName | Provider,
  request: RequestToVerify,
  options: VerifyOptions,
): Promise<Verdict> {
  const received = readRequest(request);
  const row = typeof provider === "string" ? providers.get(provider) : provider;
  if (!row) throw new TypeError(`There is no provider "${String(provider)}"`);
  const { now: nowMs, fetchKey } = options;
  const schemes = keyedSchemes(row, options.secrets);
  const verdict = await verifyReceived(row, schemes, received, {
    nowMs,
    ...(fetchKey ? { fetchKey } : {}),
  });
  if (!verdict.ok) return verdict;
  const { eventId, type } = verdict;
  return { ok: true, ...(eventId === undefined ? {} : { eventId }), ...(type === undefined ? {} : { type }) };
}

export function readRequest({ method = "POST", url = "", headers, body }: RequestToVerify): Received {
  return {
    method: method.toUpperCase(),
    url,
    header: headerLookup(headers),
    body: typeof body === "string" ? new TextEncoder().encode(body) : body,
  };
}
