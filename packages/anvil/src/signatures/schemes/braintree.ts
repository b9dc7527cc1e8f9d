import { createHash, createHmac } from "node:crypto";
import { formOf } from "../form.ts";
import { refuse } from "../verdict.ts";
import type { SchemeEngine } from "./engine.ts";
import { equalBytes } from "./equal-bytes.ts";
import { decodeSignature } from "./signature-encoding.ts";

const MAX_PAIRS = 32;

/**
 * Braintree posts a form: the payload, and pairs of a public key and a signature under the private one. The secret is
 * both keys, `public|private`. Its SDK 3.40.0, `webhook_notification_gateway.js`
 */
export const braintreeEngine: SchemeEngine<unknown> = {
  readKey(_, secret) {
    const [publicKey, privateKey, ...rest] = secret.split("|");
    return publicKey && privateKey && rest.length === 0 ? Buffer.from(secret) : undefined;
  },

  // All of it is in the body.
  precheck: () => undefined,

  verify(_, received, keys) {
    const form = formOf(received);
    const [signature, ...more] = form.getAll("bt_signature");
    const [payload, ...others] = form.getAll("bt_payload");
    if (!signature || !payload) return refuse("missing_signature");
    const pairs = signature.split("&");
    const wellFormed = more.length + others.length === 0 && pairs.length <= MAX_PAIRS;
    if (!wellFormed || !/^[A-Za-z0-9+/=\n]+$/.test(payload)) return refuse("malformed_signature");
    for (const key of keys) {
      const [publicKey = "", privateKey = ""] = Buffer.from(key as Uint8Array)
        .toString()
        .split("|");
      const hmacKey = createHash("sha1").update(privateKey).digest();
      // Some of its servers sign a line break more.
      for (const text of [payload, `${payload}\n`]) {
        const digest = createHmac("sha1", hmacKey).update(text).digest();
        for (const pair of pairs) {
          const [owner, hex = ""] = pair.split("|");
          const candidate = owner === publicKey ? decodeSignature(hex, "hex") : undefined;
          if (candidate && equalBytes(candidate, digest)) {
            return { ok: true, signature: digest, covers: Buffer.from(payload.trimEnd()) };
          }
        }
      }
    }
    return refuse("wrong_signature");
  },

  /** The body becomes the payload of a form, in base64. */
  sign(_, { body }, key) {
    const [publicKey = "", privateKey = ""] = Buffer.from(key as Uint8Array)
      .toString()
      .split("|");
    const payload = `${Buffer.from(body).toString("base64")}\n`;
    const hmacKey = createHash("sha1").update(privateKey).digest();
    const signature = createHmac("sha1", hmacKey).update(payload).digest("hex");
    const form = new URLSearchParams({ bt_signature: `${publicKey}|${signature}`, bt_payload: payload });
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    return { ok: true, headers, body: new TextEncoder().encode(form.toString()) };
  },
};
