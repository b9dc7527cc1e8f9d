import { readEventFields } from "./fields.ts";
import { jsonItems } from "./json-items.ts";
import type { Batch } from "./provider.ts";
import type { Received } from "./received.ts";

/** One event of a list, with the bytes that it has in it. */
export type BatchItem = {
  readonly body: Uint8Array;
  readonly eventId?: string;
  readonly type?: string;
};

/**
 * The events of a verified delivery. Undefined where the body holds no such list, or an empty one: then the delivery
 * is one event, whatever it is.
 */
export function splitDelivery(batch: Batch, received: Received): readonly BatchItem[] | undefined {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(received.body);
  } catch {
    return undefined;
  }
  const items = jsonItems(text, batch.list);
  if (!items || items.length === 0) return undefined;
  const row = {
    ...(batch.identity ? { identity: batch.identity } : {}),
    ...(batch.type ? { type: batch.type } : {}),
  };
  // An item is JSON, whatever the content type of the whole.
  const header = (name: string) => (name === "content-type" ? undefined : received.header(name));
  return items.map((item) => {
    const body = new TextEncoder().encode(item);
    return { body, ...readEventFields(row, { body, header }) };
  });
}
