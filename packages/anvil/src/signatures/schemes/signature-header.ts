import type { HeaderLookup } from "../headers.ts";
import type { SignatureHeader, Timestamp } from "../provider.ts";
import { type Refusal, refuse } from "../verdict.ts";
import { decodeSignature } from "./signature-encoding.ts";

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
/** Of `<header>-1`, `<header>-2`, …; nobody has more keys at once. */
const MAX_NUMBERED = 10;

/** What a scheme says of its header and of its timestamp, if that is one of the headers' too. */
type HeaderScheme = { readonly signature: SignatureHeader; readonly timestamp?: Timestamp };

/** Reads the signature header by the scheme's layout. Needs no body: a delivery without a signature can be
 * refused before its body is read. */
export function readClaimedSignature(scheme: HeaderScheme, header: HeaderLookup): ClaimedSignature | Refusal {
  const { signature, timestamp } = scheme;
  const values = headerValues(signature, header);
  if (values.length === 0) return refuse("missing_signature");
  if (values.some((value) => value.length > MAX_HEADER_LENGTH)) return refuse("malformed_signature");

  const all = values.map((value) => splitLayout(value, scheme));
  const readable = all.filter((parts) => parts !== undefined);
  const signatures = readable.flatMap((parts) => parts.signatures);
  if (readable.length < all.length || signatures.length > MAX_CANDIDATES)
    return refuse("malformed_signature");
  if (signatures.length === 0) return refuse("missing_signature");

  // One undecodable signature beside a good one is no reason to refuse: during a rotation a sender may list
  // signatures of a kind that we don't know.
  const candidates = signatures
    .map((text) => decodeSignature(text, signature.encoding))
    .filter((bytes) => bytes !== undefined);
  if (candidates.length === 0) return refuse("malformed_signature");

  if (!timestamp || "body" in timestamp.from) return { ok: true, candidates };
  const text =
    "pair" in timestamp.from
      ? readable[0]?.pairs.get(timestamp.from.pair)
      : header(timestamp.from.header)?.trim();
  if (!text) return refuse("missing_timestamp");
  return { ok: true, candidates, timestamp: text };
}

/** Whether a delivery has such a signature, be it right or wrong; where the header names versions, one of this version. */
export function hasSignature(signature: SignatureHeader, header: HeaderLookup): boolean {
  const values = headerValues(signature, header);
  const { layout } = signature;
  if (layout.kind !== "versions") return values.length > 0;
  return values.some((value) => ` ${value}`.includes(` ${layout.version},`));
}

function headerValues({ header: name, numbered }: SignatureHeader, header: HeaderLookup): string[] {
  const names = numbered ? Array.from({ length: MAX_NUMBERED }, (_, n) => `${name}-${n + 1}`) : [name];
  return names
    .map((each) => header(each)?.trim())
    .filter((value) => value !== undefined && value !== "") as string[];
}

type Parts = { readonly signatures: readonly string[]; readonly pairs: ReadonlyMap<string, string> };

const NO_PAIRS: ReadonlyMap<string, string> = new Map();

function splitLayout(value: string, scheme: HeaderScheme): Parts | undefined {
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
    // Two headers that were joined: which of them counts is not ours to guess.
    if (entries.some((entry) => entry.endsWith(","))) return undefined;
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

function isTimestampPair(scheme: HeaderScheme, key: string): boolean {
  const from = scheme.timestamp?.from;
  return from !== undefined && "pair" in from && from.pair === key;
}
