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
   * @throws {SyntaxError} when it is neither
   */
  json(): unknown;
  /** When the delivery was accepted. Deliveries may arrive out of order: compare the event's own times. */
  readonly receivedAt: Date;
};

export function toEvent(id: string, envelope: Envelope): WebhookEvent {
  const bytes = decodeBody(envelope);
  return {
    id,
    source: envelope.source,
    type: envelope.type,
    eventId: envelope.eventId,
    headers: envelope.headers,
    bytes,
    // The envelope's own text where it is text: decoding the bytes again would drop a BOM.
    text: envelope.encoding === "utf8" ? envelope.body : new TextDecoder().decode(bytes),
    json: () => parsePayload(bytes, envelope.headers["content-type"]),
    receivedAt: new Date(envelope.receivedAt),
  };
}
