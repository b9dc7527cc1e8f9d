import { createHmac } from "node:crypto";
import { valuesAt } from "../json-path.ts";
import { lazyPayload } from "../payload-of.ts";
import { secretKey } from "../secret-key.ts";
import { type Refusal, refuse } from "../verdict.ts";
import type { Proof, SchemeEngine } from "./engine.ts";
import { equalBytes } from "./equal-bytes.ts";
import { decodeSignature } from "./signature-encoding.ts";
import { readClaimedSignature } from "./signature-header.ts";

const HEADER = {
  signature: { header: "hmacsignature", encoding: "base64", layout: { kind: "single" } },
} as const;

/** Of an item, in this order, with colons between. Everything else in it is signed by nobody. */
const SIGNED_FIELDS = [
  "pspReference",
  "originalReference",
  "merchantAccountCode",
  "merchantReference",
  "amount.value",
  "amount.currency",
  "eventCode",
  "success",
] as const;

/**
 * Adyen signs eight fields of each item in a standard notification, and the whole body, in a header, of the others.
 * https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures, and its SDK 32.1.0
 */
export const adyenEngine: SchemeEngine<unknown> = {
  readKey: (_, secret) => secretKey(secret, "hex"),

  // The signature may be in the body.
  precheck: () => undefined,

  verify(_, received, keys) {
    const hmacKeys = keys as readonly Uint8Array[];
    if (received.header("hmacsignature")) {
      const claimed = readClaimedSignature(HEADER, received.header);
      if (!claimed.ok) return claimed;
      // The fields of an item with colons between them are signed as well, and are no JSON.
      if (lazyPayload(received)() === undefined) return refuse("wrong_signature");
      return match(claimed.candidates[0] as Uint8Array, received.body, hmacKeys);
    }
    const payload = lazyPayload(received)();
    const items = valuesAt(payload, "notificationItems[].NotificationRequestItem");
    if (items.length === 0 || items[0] === undefined) return refuse("missing_signature");
    let last: Proof | Refusal = refuse("missing_signature");
    for (const item of items) {
      const [text] = valuesAt(item, "additionalData.hmacSignature");
      if (typeof text !== "string" || text === "") return refuse("missing_signature");
      const candidate = decodeSignature(text, "base64");
      const signed = signedText(item);
      if (!candidate || signed === undefined) return refuse("malformed_signature");
      last = match(candidate, signed, hmacKeys);
      if (!last.ok) return last;
    }
    return last;
  },

  sign(_, unsigned, key) {
    const payload = lazyPayload(unsigned)();
    const items = valuesAt(payload, "notificationItems[].NotificationRequestItem");
    if (items.length === 0 || items[0] === undefined) {
      const signature = createHmac("sha256", key as Uint8Array)
        .update(unsigned.body)
        .digest("base64");
      return { ok: true, headers: { hmacsignature: signature } };
    }
    for (const item of items as { additionalData?: Record<string, unknown> }[]) {
      const signed = signedText(item);
      if (signed === undefined) return refuse("missing_signed_part");
      const hmacSignature = createHmac("sha256", key as Uint8Array)
        .update(signed)
        .digest("base64");
      item.additionalData = { ...item.additionalData, hmacSignature };
    }
    return { ok: true, headers: {}, body: new TextEncoder().encode(JSON.stringify(payload)) };
  },
};

function match(
  candidate: Uint8Array,
  signed: string | Uint8Array,
  keys: readonly Uint8Array[],
): Proof | Refusal {
  for (const key of keys) {
    const digest = createHmac("sha256", key).update(signed).digest();
    if (equalBytes(candidate, digest)) return { ok: true, signature: digest };
  }
  return refuse("wrong_signature");
}

/**
 * Undefined when a field is of a kind that it can't have, or would blur where it ends: one signature must not fit two
 * items. Only the merchant's own reference may have colons.
 */
function signedText(item: unknown): string | undefined {
  const parts: string[] = [];
  for (const path of SIGNED_FIELDS) {
    const [value = ""] = valuesAt(item, path);
    const isNumber = path === "amount.value" && Number.isSafeInteger(value);
    const part = value === null ? "" : isNumber ? String(value) : value;
    if (typeof part !== "string" || (path !== "merchantReference" && part.includes(":"))) return undefined;
    parts.push(part);
  }
  return parts.join(":");
}
