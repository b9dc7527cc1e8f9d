import { type Cipher, type SealContext, sealedKeyId, withoutKey } from "./cipher.ts";
import { unreadable } from "./unreadable.ts";

export { UNREADABLE_MESSAGE } from "./unreadable.ts";

/** What is stored for an event: everything that the handler, the dead letter and the replay need. */
export type Envelope = {
  /** The version of this form. A reader that doesn't know it makes the job a dead letter, never a crash. */
  readonly v: 1;
  readonly source: string;
  /** The deduplication key; also the handler's idempotency key. */
  readonly key: string;
  /** The provider's own id of the event, where there is one. */
  readonly eventId?: string;
  /** The event's type in the provider's words, such as `invoice.paid`. */
  readonly type?: string;
  /** When the delivery arrived, in milliseconds since 1970. */
  readonly receivedAt: number;
  /** An allow-list of the provider's headers and content-type, names in lower case. Never credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes that the sender signed: as text where they survive that, else as base64; or encrypted. */
  readonly body: string;
  readonly encoding: "utf8" | "base64" | "aes-256-gcm";
};

/** What a body needs to be read: the fields that it is bound to when it is encrypted. */
export type StoredBody = Pick<Envelope, "v" | "source" | "key" | "body" | "encoding">;

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Puts bytes into the envelope's `body` and `encoding`. Text is what people can read in a dead letter, so it
 * is used where decoding and encoding again gives the same bytes. A strict decoder that keeps a BOM
 * guarantees that: it refuses every sequence that it could not reproduce.
 */
export function encodeBody(bytes: Uint8Array): { body: string; encoding: "utf8" | "base64" } {
  try {
    const body = strictUtf8.decode(bytes);
    if (!growsAsJson(body)) return { body, encoding: "utf8" };
  } catch {
    // No UTF-8.
  }
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { body: view.toString("base64"), encoding: "base64" };
}

/** Below this it isn't worth looking. */
const LARGE = 64 * 1024;

/** Control characters take six bytes each in JSON; a large body of them is smaller, and quicker, in base64. */
function growsAsJson(text: string): boolean {
  return text.length > LARGE && JSON.stringify(text).length > text.length * 1.5;
}

/** The same, encrypted. An older reader takes it for damaged: the event becomes a dead letter there, never lost. */
export function encryptBody(
  bytes: Uint8Array,
  of: Omit<StoredBody, "body" | "encoding">,
  cipher: Cipher,
): Pick<Envelope, "body" | "encoding"> {
  return { body: cipher.seal(bytes, bodyContext(of)), encoding: "aes-256-gcm" };
}

/**
 * The signed bytes again, exactly.
 * @param cipher for bodies that are encrypted
 * @throws {AnvilError} `unreadable_job`: encrypted with a key that isn't here, or changed since
 */
export function decodeBody(stored: StoredBody, cipher?: Cipher): Uint8Array {
  if (stored.encoding !== "aes-256-gcm") return new Uint8Array(Buffer.from(stored.body, stored.encoding));
  if (!cipher) throw withoutKey(sealedKeyId(stored.body));
  return new Uint8Array(cipher.open(stored.body, bodyContext(stored)));
}

/** Bound to its event: a body that is put into another event's envelope can't be opened there. */
function bodyContext({ v, source, key }: Omit<StoredBody, "body" | "encoding">): SealContext {
  return ["body", v, source, key];
}

/**
 * Checks what was read back from Redis.
 * @throws {AnvilError} `unreadable_job`: another version of the envelope, or something else altogether
 */
export function readEnvelope(data: unknown): Envelope {
  if (typeof data !== "object" || data === null) throw unreadable("it holds no envelope");
  const envelope = data as Partial<Record<keyof Envelope, unknown>>;
  if (envelope.v !== 1) {
    throw unreadable(
      `its envelope has version ${describe(envelope.v)}, this worker reads version 1. ` +
        "Deploy workers before the ingress, then replay it",
    );
  }
  const { source, key, eventId, type, receivedAt, headers, body, encoding } = envelope;
  const wellFormed =
    typeof source === "string" &&
    typeof key === "string" &&
    (eventId === undefined || typeof eventId === "string") &&
    (type === undefined || typeof type === "string") &&
    typeof receivedAt === "number" &&
    typeof headers === "object" &&
    headers !== null &&
    !Array.isArray(headers) &&
    Object.values(headers).every((value) => typeof value === "string") &&
    typeof body === "string" &&
    (encoding === "utf8" || encoding === "base64" || encoding === "aes-256-gcm");
  if (!wellFormed) throw unreadable("its envelope lacks a field or has one of another kind");
  return data as Envelope;
}

function describe(version: unknown): string {
  return typeof version === "number" || typeof version === "string"
    ? JSON.stringify(version).slice(0, 20)
    : "none";
}
