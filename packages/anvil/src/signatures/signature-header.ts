import type { HeaderLookup } from "./headers.ts";
import type { HmacScheme } from "./provider.ts";
import { decodeSignature } from "./signature-encoding.ts";
import { type Refusal, refuse } from "./verdict.ts";

/** What the headers of a delivery claim, read but not yet proven. */
export type ClaimedSignature = {
  readonly ok: true;
  /** Every signature that could be decoded; one of them must match. */
  readonly candidates: readonly Uint8Array[];
  /** As the sender wrote it, since the text itself is signed. */
  readonly timestamp?: string;
};

/** A signature header longer than this is no signature. Bounds the work for hostile headers. */
const MAX_HEADER_LENGTH = 8_192;
/** More than any provider sends while it rotates secrets. */
const MAX_CANDIDATES = 32;

/** Reads the signature header by the scheme's layout. Needs no body: a delivery without a signature can be
 * refused before its body is read. */
export function readClaimedSignature(scheme: HmacScheme, header: HeaderLookup): ClaimedSignature | Refusal {
  const { signature } = scheme;
  const value = header(signature.header)?.trim();
  if (!value) return refuse("missing_signature");
  if (value.length > MAX_HEADER_LENGTH) return refuse("malformed_signature");

  const parts = splitLayout(value, scheme);
  if (!parts || parts.signatures.length > MAX_CANDIDATES) return refuse("malformed_signature");
  if (parts.signatures.length === 0) return refuse("missing_signature");

  // One undecodable signature beside a good one is no reason to refuse: during a rotation a sender may list
  // signatures of a kind that we don't know.
  const candidates = parts.signatures
    .map((text) => decodeSignature(text, signature.encoding))
    .filter((bytes) => bytes !== undefined);
  if (candidates.length === 0) return refuse("malformed_signature");

  const { timestamp } = scheme;
  if (!timestamp) return { ok: true, candidates };
  const text =
    "pair" in timestamp.from ? parts.pairs.get(timestamp.from.pair) : header(timestamp.from.header);
  if (!text) return refuse("missing_timestamp");
  return { ok: true, candidates, timestamp: text };
}

type Parts = { readonly signatures: readonly string[]; readonly pairs: ReadonlyMap<string, string> };

const NO_PAIRS: ReadonlyMap<string, string> = new Map();

function splitLayout(value: string, scheme: HmacScheme): Parts | undefined {
  const { layout } = scheme.signature;
  if (layout.kind === "single") {
    const { prefix = "", prefixOptional } = layout;
    if (value.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase()) {
      return { signatures: [value.slice(prefix.length)], pairs: NO_PAIRS };
    }
    return prefixOptional ? { signatures: [value], pairs: NO_PAIRS } : undefined;
  }
  if (layout.kind === "versions") {
    const start = `${layout.version},`;
    const entries = value.split(" ").filter((entry) => entry !== "");
    return {
      signatures: entries
        .filter((entry) => entry.startsWith(start))
        .map((entry) => entry.slice(start.length)),
      pairs: NO_PAIRS,
    };
  }
  const signatures: string[] = [];
  const pairs = new Map<string, string>();
  for (const part of value.split(layout.separator)) {
    const at = part.indexOf("=");
    if (at < 1) return undefined;
    const key = part.slice(0, at).trim();
    const text = part.slice(at + 1).trim();
    if (key === layout.key) signatures.push(text);
    // Two timestamps are a contradiction; which one was signed is not ours to guess.
    else if (pairs.has(key) && isTimestampPair(scheme, key)) return undefined;
    else pairs.set(key, text);
  }
  return { signatures, pairs };
}

function isTimestampPair(scheme: HmacScheme, key: string): boolean {
  const from = scheme.timestamp?.from;
  return from !== undefined && "pair" in from && from.pair === key;
}
