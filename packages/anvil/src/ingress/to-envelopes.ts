import type { Cipher } from "../contract/cipher.ts";
import { type Envelope, encodeBody, encryptBody } from "../contract/envelope.ts";
import { bodyIdentity, eventKey, type Identity, signatureBodyIdentity } from "../contract/event-key.ts";
import { newJobId } from "../contract/job-id.ts";
import { splitDelivery } from "../signatures/batch.ts";
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
 */
export function toEnvelopes(
  source: ResolvedSource,
  verified: Verified,
  received: Received,
  receivedAt: number,
  cipher: Cipher | undefined,
): Envelope[] {
  const headers: Record<string, string> = {};
  for (const name of ["content-type", ...source.provider.keepHeaders]) {
    const value = received.header(name);
    if (value !== undefined) headers[name] = value;
  }
  return eventsOf(source, verified, received, receivedAt).map(({ body, eventId, type, identity }) => {
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
): readonly VerifiedEvent[] {
  const { eventId, type, signature } = verified;
  const whole = { body: received.body, ...(eventId ? { eventId } : {}), ...(type ? { type } : {}) };
  const { batch } = source.provider;
  const items = source.split && batch ? splitDelivery(batch, received) : undefined;
  return (items ?? [whole]).map((event) => ({
    ...event,
    identity: identityOf(source, event, received, items ? undefined : signature, receivedAt),
  }));
}

/** @param signature of the whole delivery; an item of a list has none, and is known by its bytes instead */
function identityOf(
  { provider, identity }: ResolvedSource,
  { body, eventId, type }: Pick<VerifiedEvent, "body" | "eventId" | "type">,
  { header }: Received,
  signature: Uint8Array | undefined,
  receivedAt: number,
): Identity {
  const fallback = () =>
    signature === undefined ? bodyIdentity(body) : signatureBodyIdentity(signature, body);
  if (typeof identity === "function") {
    const own = identity({ bytes: body, header, eventId, type });
    return typeof own === "string" && own !== "" ? { kind: "own", value: own } : fallback();
  }
  if (identity === "body") return bodyIdentity(body);
  if (identity === "signature+body") return fallback();
  if (eventId) return { kind: "provider", value: eventId };
  // Equal deliveries are two events of this provider; what tells them apart is made up.
  if (provider.identity === "each-delivery") return { kind: "delivery", value: newJobId(receivedAt) };
  return fallback();
}
