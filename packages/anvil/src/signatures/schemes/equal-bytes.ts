import { timingSafeEqual } from "node:crypto";

/** Length first, since timingSafeEqual throws on unequal ones and the length is no secret; then constant time. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
