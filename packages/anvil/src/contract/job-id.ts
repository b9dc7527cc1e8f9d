import { randomFillSync } from "node:crypto";

/**
 * A fresh job id: `wh_` and a UUID version 7 (RFC 9562, section 5.7) without dashes, so ids sort by time.
 * Ours, never the provider's: BullMQ refuses some ids (whole numbers, colons) and silently ignores an `add`
 * under an id that exists. Sending a fresh one also tells new from seen: the id that Redis returns is this
 * one, or the original's.
 */
export function newJobId(nowMs: number, random: Uint8Array = randomFillSync(new Uint8Array(10))): string {
  const bytes = new Uint8Array(16);
  for (let i = 0; i < 6; i++) bytes[i] = Math.floor(nowMs / 2 ** (8 * (5 - i))) % 256;
  bytes.set(random.subarray(0, 10), 6);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return `wh_${Buffer.from(bytes).toString("hex")}`;
}

/** Whether a text has the form of a job id, before it is looked up or put into a key. */
export function isJobId(text: string): boolean {
  return /^wh_[0-9a-f]{32}$/.test(text);
}
