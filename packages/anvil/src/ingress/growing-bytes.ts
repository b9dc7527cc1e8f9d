/** Bytes that arrive in pieces. */
export type GrowingBytes = {
  /** @returns false when `reserve` refused the room for them; then they are not kept */
  add(piece: Uint8Array): boolean;
  /** All of them, in order. */
  bytes(): Uint8Array;
};

/**
 * Keeps pieces in one block that doubles when it is full. A list of the pieces would be simpler, and would let a
 * sender of one-byte chunks take a few hundred bytes of memory for each.
 * @param limitBytes they never become more
 * @param reserve asked before a larger block is made, with its size
 */
export function growingBytes(limitBytes: number, reserve: (bytes: number) => boolean): GrowingBytes {
  let block: Uint8Array = new Uint8Array();
  let size = 0;
  return {
    add(piece) {
      const needed = size + piece.byteLength;
      if (needed > block.byteLength) {
        // Most bodies are one piece, which is kept as it is.
        const room = size === 0 ? needed : Math.min(limitBytes, Math.max(needed, 2 * block.byteLength));
        if (!reserve(room)) return false;
        if (size === 0) {
          block = piece;
          size = needed;
          return true;
        }
        const larger = new Uint8Array(room);
        larger.set(block.subarray(0, size));
        block = larger;
      }
      block.set(piece, size);
      size = needed;
      return true;
    },
    bytes: () => block.subarray(0, size),
  };
}
