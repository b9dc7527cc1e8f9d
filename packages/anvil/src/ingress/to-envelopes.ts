import type { Cipher } from "../contract/cipher.ts";
import type { IdentityFunction } from "../contract/config.ts";
import { type Envelope, encodeBody, encryptBody } from "../contract/envelope.ts";
import { bodyIdentity, eventKey, type Identity, signatureBodyIdentity } from "../contract/event-key.ts";
import { newJobId } from "../contract/job-id.ts";
import type { Log } from "../contract/log.ts";
import { splitDelivery } from "../signatures/batch.ts";
import { isNeverRepeated } from "../signatures/fields.ts";
import type { Received } from "../signatures/received.ts";
import type { ResolvedSource } from "../signatures/sources.ts";
import type { Verified } from "../signatures/verify.ts";

/** One event of a verified delivery, before it is wrapped. */
type VerifiedEvent = {
  readonly body: Uint8Array;
  readonly eventId?: string;
  readonly type?: string;
  readonly identity: Identity;
};

/**
 * What is stored for a verified delivery: one envelope, or one for each event where the source splits its lists.
 * @param receivedAt milliseconds since 1970
 * @param cipher encrypts bodies where it has a current key
 * @param log told when the user's own identity can't be had
 */
export function toEnvelopes(
  source: ResolvedSource,
  verified: Verified,
  received: Received,
  receivedAt: number,
  cipher: Cipher | undefined,
  log: Log,
): Envelope[] {
  const headers: Record<string, string> = {};
  for (const name of ["content-type", ...source.provider.keepHeaders]) {
    const value = received.header(name);
    if (value !== undefined) headers[name] = value;
  }
  return eventsOf(source, verified, received, receivedAt, log).map(({ body, eventId, type, identity }) => {
    const bound = { v: 1, source: source.name, key: eventKey(source.name, identity) } as const;
    return {
      ...bound,
      ...(eventId ? { eventId } : {}),
      ...(type ? { type } : {}),
      receivedAt,
      headers,
      ...(cipher?.keyId === undefined ? encodeBody(body) : encryptBody(body, bound, cipher)),
    };
  });
}

function eventsOf(
  source: ResolvedSource,
  verified: Verified,
  received: Received,
  receivedAt: number,
  log: Log,
): readonly VerifiedEvent[] {
  const { eventId, type } = verified;
  const whole = { body: received.body, ...(eventId ? { eventId } : {}), ...(type ? { type } : {}) };
  const { batch } = source.provider;
  const items = source.split && batch ? splitDelivery(batch, received) : undefined;
  return (items ?? [whole]).map((event) => ({
    ...event,
    identity: identityOf(source, event, received, items ? undefined : verified, receivedAt, log),
  }));
}

/** @param verified the whole delivery; an item of a list has no signature, and is known by its bytes instead */
function identityOf(
  source: ResolvedSource,
  event: Pick<VerifiedEvent, "body" | "eventId" | "type">,
  { header }: Received,
  verified: Verified | undefined,
  receivedAt: number,
  log: Log,
): Identity {
  const { provider, identity } = source;
  const { body, eventId } = event;
  const fallback = () =>
    verified ? signatureBodyIdentity(verified.signature, verified.covers ?? body) : bodyIdentity(body);
  if (typeof identity === "function") {
    const own = ownIdentity(source, identity, event, header, log);
    return own === undefined ? fallback() : { kind: "own", value: own };
  }
  if (identity === "body") return bodyIdentity(body);
  if (identity === "signature+body") return fallback();
  if (eventId) return { kind: "provider", value: eventId };
  // Equal deliveries are two events of this provider; what tells them apart is made up.
  if (isNeverRepeated(provider)) return { kind: "delivery", value: newJobId(receivedAt) };
  return fallback();
}

/** What the user's function says. Whatever is wrong with it, the event is real and must not be lost for it. */
function ownIdentity(
  { name }: ResolvedSource,
  identity: IdentityFunction,
  { body, eventId, type }: Pick<VerifiedEvent, "body" | "eventId" | "type">,
  header: Received["header"],
  log: Log,
): string | undefined {
  let own: unknown;
  try {
    // A copy: what is stored is what was signed.
    own = identity({ bytes: body.slice(), header, eventId, type });
  } catch (error) {
    // Its message is the user's, and may quote the body.
    log.error({ source: name, error: (error as Error | undefined)?.name }, "identity() threw: fell back");
    return undefined;
  }
  if (own === undefined || (typeof own === "string" && own !== "")) return own;
  // A promise that nobody waits for must not end the process.
  if (own instanceof Promise) own.catch(() => {});
  log.error({ source: name, returned: own === "" ? "an empty text" : typeof own }, NO_TEXT);
  return undefined;
}

const NO_TEXT = "identity() returned neither a text nor undefined: fell back";
