import { createHash } from "node:crypto";

/**
 * What makes two deliveries the same event:
 * - `provider`: an id that the provider keeps when it delivers again
 * - `signature+body`: the fallback, where there is no such id
 * - `body`: equal bytes are one event, whatever their signatures
 * - `delivery`: nothing does; the value is new each time
 * - `own`: what a function of the user's says
 */
export type Identity = {
  readonly kind: "provider" | "signature+body" | "body" | "delivery" | "own";
  readonly value: string;
};

/** The identity of a delivery whose bytes are all that counts. */
export function bodyIdentity(body: Uint8Array): Identity {
  return { kind: "body", value: createHash("sha256").update(body).digest("hex") };
}

/** The identity of a delivery without an id of its own: sha256(signature + payload), in hex. */
export function signatureBodyIdentity(signature: Uint8Array, body: Uint8Array): Identity {
  return {
    kind: "signature+body",
    value: createHash("sha256").update(signature).update(body).digest("hex"),
  };
}

/**
 * The deduplication key of an event: sha256 over the source and the identity, in hex. Written as a JSON array
 * before hashing, so no two different pairs run together, and one kind of identity can't imitate another.
 */
export function eventKey(source: string, identity: Identity): string {
  return createHash("sha256")
    .update(JSON.stringify([source, identity.kind, identity.value]))
    .digest("hex");
}
