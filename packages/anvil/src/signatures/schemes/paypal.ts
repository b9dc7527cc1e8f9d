import { verify as verifySignature } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Head } from "../received.ts";
import { type Refusal, refuse } from "../verdict.ts";
import { certificateKey } from "./certificate.ts";
import type { SchemeEngine } from "./engine.ts";
import { decodeSignature } from "./signature-encoding.ts";

const HOSTS = /^api(?:-m)?(?:\.sandbox)?\.paypal\.com$/;
const MAX_SIGNATURE_LENGTH = 8_192;

/**
 * PayPal signs its id of the transmission, the time, the webhook's id (which is the secret here, and none) and the
 * CRC-32 of the body, with the key of a certificate that a header names.
 * https://developer.paypal.com/api/rest/webhooks/rest/#link-selfverificationmethod
 */
export const paypalEngine: SchemeEngine<unknown> = {
  readKey: (_, secret) => (/^[A-Za-z0-9-]+$/.test(secret) ? Buffer.from(secret) : undefined),

  precheck(_, head) {
    const claim = readHeaders(head);
    return claim.ok ? undefined : claim;
  },

  async verify(_, received, keys, moment) {
    const claim = readHeaders(received);
    if (!claim.ok) return claim;
    const key = await certificateKey(claim.certificateUrl, HOSTS, moment);
    if (!key) return refuse("untrusted_certificate");
    for (const webhookId of keys) {
      const signed = [
        claim.id,
        claim.time,
        Buffer.from(webhookId as Uint8Array).toString(),
        crc32(received.body),
      ].join("|");
      if (verifySignature("RSA-SHA256", Buffer.from(signed), key, claim.signature)) {
        return { ok: true, signature: claim.signature };
      }
    }
    return refuse("wrong_signature");
  },
};

type Claim = {
  readonly ok: true;
  readonly id: string;
  readonly time: string;
  readonly certificateUrl: string;
  readonly signature: Uint8Array;
};

function readHeaders({ header }: Head): Claim | Refusal {
  const id = header("paypal-transmission-id");
  const time = header("paypal-transmission-time");
  const certificateUrl = header("paypal-cert-url");
  const text = header("paypal-transmission-sig");
  if (!id || !time || !certificateUrl || !text) return refuse("missing_signature");
  if (text.length > MAX_SIGNATURE_LENGTH) return refuse("malformed_signature");
  const signature = decodeSignature(text, "base64");
  const algorithm = header("paypal-auth-algo");
  if (!signature || algorithm !== "SHA256withRSA" || /[|\s]/.test(id + time))
    return refuse("malformed_signature");
  return { ok: true, id, time, certificateUrl, signature };
}
