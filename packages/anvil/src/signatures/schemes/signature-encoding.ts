import type { SignatureEncoding } from "../provider.ts";

/**
 * Decodes a signature strictly: what isn't exactly one encoding of some bytes is undefined. Node's own
 * decoders stop at the first bad character or skip it, which would accept trailing garbage.
 */
export function decodeSignature(text: string, encoding: SignatureEncoding): Uint8Array | undefined {
  if (text === "") return undefined;
  if (encoding === "hex") {
    return /^(?:[0-9a-fA-F]{2})+$/.test(text) ? Buffer.from(text, "hex") : undefined;
  }
  const bytes = Buffer.from(text, encoding);
  return bytes.toString(encoding) === text ? bytes : undefined;
}

export function encodeSignature(bytes: Uint8Array, encoding: SignatureEncoding): string {
  return Buffer.from(bytes).toString(encoding);
}
