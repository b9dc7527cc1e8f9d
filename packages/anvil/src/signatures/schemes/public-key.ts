import { createPublicKey, type KeyObject, verify as verifySignature } from "node:crypto";
import { lazyPayload } from "../payload-of.ts";
import type { PublicKeyScheme } from "../provider.ts";
import { base64Key } from "../secret-key.ts";
import { refuse } from "../verdict.ts";
import { checkBodyTimestamp } from "./body-timestamp.ts";
import type { SchemeEngine } from "./engine.ts";
import { signedMessage } from "./message.ts";
import { readClaimedSignature } from "./signature-header.ts";
import { checkTimestamp } from "./timestamp.ts";

/** Ed25519 and ECDSA: the sender signs with a key that only it has. */
export const publicKeyEngine: SchemeEngine<PublicKeyScheme> = {
  readKey: (scheme, secret) => publicKey(scheme, secret),

  precheck(scheme, head, nowMs) {
    const claimed = readClaimedSignature(scheme, head.header);
    if (!claimed.ok) return claimed;
    return claimed.timestamp !== undefined && scheme.timestamp
      ? checkTimestamp(scheme.timestamp, claimed.timestamp, nowMs)
      : undefined;
  },

  verify(scheme, received, keys, { nowMs }) {
    const claimed = readClaimedSignature(scheme, received.header);
    if (!claimed.ok) return claimed;
    const late =
      checkBodyTimestamp(scheme.timestamp, lazyPayload(received), nowMs) ??
      (claimed.timestamp !== undefined && scheme.timestamp
        ? checkTimestamp(scheme.timestamp, claimed.timestamp, nowMs)
        : undefined);
    if (late) return late;
    const parts: Buffer[] = [];
    const problem = signedMessage(scheme.message, { received, timestamp: claimed.timestamp }, (bytes) =>
      parts.push(Buffer.from(bytes as Uint8Array)),
    );
    if (problem) return refuse(problem);
    const message = Buffer.concat(parts);
    const hash = scheme.algorithm === "ed25519" ? null : "sha256";
    // A signature costs far more to check than a digest: nobody has so many keys.
    for (const candidate of claimed.candidates.slice(0, MAX_CHECKED)) {
      for (const key of keys) {
        if (verifySignature(hash, message, key as KeyObject, candidate)) {
          return { ok: true, signature: candidate };
        }
      }
    }
    return refuse("wrong_signature");
  },
};

const MAX_CHECKED = 4;

/** A raw Ed25519 key in DER, as in RFC 8410: twelve bytes that are always the same, then the key. */
const ED25519_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

function publicKey({ algorithm, key: form }: PublicKeyScheme, secret: string): KeyObject | undefined {
  try {
    const der = derOf(form, secret);
    if (!der) return undefined;
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    const fits =
      algorithm === "ed25519"
        ? key.asymmetricKeyType === "ed25519"
        : key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === "prime256v1";
    return fits ? key : undefined;
  } catch {
    return undefined;
  }
}

function derOf(form: PublicKeyScheme["key"], secret: string): Buffer | undefined {
  if (form === "spki") {
    const text = secret.replace(/-----(?:BEGIN|END) PUBLIC KEY-----|\s/g, "");
    return base64Key(text);
  }
  const raw =
    form === "hex"
      ? /^[0-9a-f]{64}$/i.test(secret)
        ? Buffer.from(secret, "hex")
        : undefined
      : secret.startsWith("whpk_")
        ? base64Key(secret.slice("whpk_".length))
        : undefined;
  return raw?.length === 32 ? Buffer.concat([ED25519_PREFIX, raw]) : undefined;
}
