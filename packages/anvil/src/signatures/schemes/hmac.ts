import { createHash, createHmac } from "node:crypto";
import { formOf, sortedForm } from "../form.ts";
import { textAt } from "../json-path.ts";
import { lazyPayload } from "../payload-of.ts";
import type { Hash, HmacScheme } from "../provider.ts";
import type { Head, Received } from "../received.ts";
import { secretKey } from "../secret-key.ts";
import { type Refusal, refuse } from "../verdict.ts";
import { checkBodyTimestamp } from "./body-timestamp.ts";
import type { SchemeEngine } from "./engine.ts";
import { equalBytes } from "./equal-bytes.ts";
import { signedMessage } from "./message.ts";
import { decodeSignature, encodeSignature } from "./signature-encoding.ts";
import { type ClaimedSignature, readClaimedSignature } from "./signature-header.ts";
import { checkTimestamp } from "./timestamp.ts";
import { placeTimestamp, withText, writeSignature } from "./write-signature.ts";

/** An HMAC, or the plain hash of a message with the secret in it; where the signature is in a header or in the body. */
export const hmacEngine: SchemeEngine<HmacScheme> = {
  readKey: (scheme, secret) => secretKey(secret, scheme.secret),

  precheck(scheme, head, nowMs) {
    if ("field" in scheme.signature) return undefined;
    const claimed = claimIn(scheme, head);
    if (!claimed.ok) return claimed;
    return claimed.timestamp !== undefined && scheme.timestamp
      ? checkTimestamp(scheme.timestamp, claimed.timestamp, nowMs)
      : undefined;
  },

  /** One digest a key and template, however many signatures are claimed: the sender doesn't set the cost. */
  verify(scheme, received, keys, { nowMs }) {
    const payload = lazyPayload(received);
    const claimed = "field" in scheme.signature ? claimInBody(scheme, payload) : claimIn(scheme, received);
    if (!claimed.ok) return claimed;
    const late =
      checkBodyTimestamp(scheme.timestamp, payload, nowMs) ??
      (claimed.timestamp !== undefined && scheme.timestamp
        ? checkTimestamp(scheme.timestamp, claimed.timestamp, nowMs)
        : undefined);
    if (late) return late;
    for (const key of keys) {
      for (const hash of hashesOf(scheme)) {
        for (const template of templatesOf(scheme)) {
          // Whoever knows the hash of secret and body knows that of both with more at its end; JSON can't go on so.
          if (template.startsWith("{secret}") && payload() === undefined) continue;
          const by = { hash, template, key: key as Uint8Array, timestamp: claimed.timestamp };
          const result = hmacDigest(scheme, by, received);
          if (!result.ok) return result;
          if (claimed.candidates.some((candidate) => equalBytes(candidate, result.digest))) {
            const form = template.includes("{form}") ? { covers: formBytes(received) } : {};
            return { ok: true, signature: result.digest, ...form };
          }
        }
      }
    }
    return refuse("wrong_signature");
  },

  sign(scheme, unsigned, key, nowMs) {
    const [hash] = hashesOf(scheme).slice(-1) as [Hash];
    const [template] = templatesOf(scheme) as [string];
    const placed = placeTimestamp(scheme.timestamp, unsigned, nowMs, template);
    const { timestamp } = placed;
    const by = { hash, template, key: key as Uint8Array, timestamp };
    const result = hmacDigest(scheme, by, placed.received);
    if (!result.ok) return result;
    const { signature } = scheme;
    if ("field" in signature) {
      const text = encodeSignature(result.digest, signature.encoding);
      const body = withText(placed.received, signature.field, text);
      return body ? { ok: true, headers: placed.headers, body } : refuse("missing_signed_part");
    }
    const written = writeSignature(signature, scheme.timestamp, result.digest, timestamp);
    return { ok: true, headers: { ...placed.headers, ...written }, body: placed.received.body };
  },
};

function formBytes(received: Received): Uint8Array {
  return new TextEncoder().encode(sortedForm(formOf(received)));
}

export function templatesOf({ message }: Pick<HmacScheme, "message">): readonly string[] {
  return typeof message === "string" ? [message] : message;
}

export function hashesOf({ hash }: Pick<HmacScheme, "hash">): readonly Hash[] {
  return typeof hash === "string" ? [hash] : hash;
}

/** The digest of a delivery under one key, by one of the scheme's hashes and templates. */
function hmacDigest(
  scheme: HmacScheme,
  by: {
    readonly hash: Hash;
    readonly template: string;
    readonly key: Uint8Array;
    readonly timestamp: string | undefined;
  },
  received: Received,
): { ok: true; digest: Uint8Array } | Refusal {
  const { hash, template, key, timestamp } = by;
  const plain = scheme.construction === "plain";
  const digest = plain ? createHash(hash) : createHmac(hash, key);
  const values = { received, timestamp, ...(plain ? { secret: key } : {}) };
  const problem = signedMessage(template, values, (bytes) => digest.update(bytes));
  return problem ? refuse(problem) : { ok: true, digest: digest.digest() };
}

function claimIn(scheme: HmacScheme, head: Head): ClaimedSignature | Refusal {
  const { signature, timestamp } = scheme;
  if ("field" in signature) return refuse("missing_signature");
  return readClaimedSignature({ signature, ...(timestamp ? { timestamp } : {}) }, head.header);
}

function claimInBody(scheme: HmacScheme, payload: () => unknown): ClaimedSignature | Refusal {
  if (!("field" in scheme.signature)) return refuse("missing_signature");
  const text = textAt(payload(), scheme.signature.field);
  if (text === undefined) return refuse("missing_signature");
  const bytes = decodeSignature(text, scheme.signature.encoding);
  return bytes ? { ok: true, candidates: [bytes] } : refuse("malformed_signature");
}
