import type { Cipher } from "../contract/cipher.ts";
import { decodeBody, type Envelope } from "../contract/envelope.ts";
import { parsePayload } from "../contract/payload.ts";

/** What a handler gets: the event as it was signed. */
export type WebhookEvent = {
  /** The job's id, the one that the 202 named. */
  readonly id: string;
  readonly source: string;
  /** In the provider's words, such as `invoice.paid`; undefined where the provider has none. */
  readonly type: string | undefined;
  /** The provider's own id of the event. */
  readonly eventId: string | undefined;
  /** The headers that were kept, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, byte for byte. */
  readonly bytes: Uint8Array;
  /** The body as UTF-8 text. Bytes that are no UTF-8 become U+FFFD here; `bytes` has them. */
  readonly text: string;
  /**
   * The body parsed as JSON, or the JSON in the field `payload` of a form.
   * @throws {SyntaxError} when it is neither; its message doesn't quote the body, as that of JSON.parse does
   */
  json(): unknown;
  /** When the delivery was accepted. Deliveries may arrive out of order: compare the event's own times. */
  readonly receivedAt: Date;
};

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** @throws {AnvilError} `unreadable_job`: the body is encrypted, and can't be opened here */
export function toEvent(id: string, envelope: Envelope, cipher?: Cipher): WebhookEvent {
  const bytes = decodeBody(envelope, cipher);
  return {
    id,
    source: envelope.source,
    type: envelope.type,
    eventId: envelope.eventId,
    headers: envelope.headers,
    bytes,
    // A BOM stays: it is a part of what was signed.
    text: envelope.encoding === "utf8" ? envelope.body : utf8.decode(bytes),
    json: () => parsePayload(bytes, envelope.headers["content-type"]),
    receivedAt: new Date(envelope.receivedAt),
  };
}
