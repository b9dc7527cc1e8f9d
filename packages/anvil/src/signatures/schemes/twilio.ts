import { createHash, createHmac } from "node:crypto";
import { formOf, sortedForm } from "../form.ts";
import type { Received } from "../received.ts";
import { refuse } from "../verdict.ts";
import type { SchemeEngine } from "./engine.ts";
import { equalBytes } from "./equal-bytes.ts";
import { decodeSignature } from "./signature-encoding.ts";
import { readClaimedSignature } from "./signature-header.ts";

const HEADER = {
  signature: { header: "x-twilio-signature", encoding: "base64", layout: { kind: "single" } },
} as const;

/**
 * Twilio signs the public URL and, after it, a form's fields; of any other body the URL holds the hash. Newer
 * deliveries say in a header of their own that they are signed with SHA-256 and a shared key.
 * https://www.twilio.com/docs/usage/webhooks/webhooks-security, and its SDK 6.3.1, `webhooks.js`
 */
export const twilioEngine: SchemeEngine<unknown> = {
  readKey: (_, secret) => (secret === "" ? undefined : Buffer.from(secret)),

  precheck(_, head) {
    const claimed = readClaimedSignature(HEADER, head.header);
    return claimed.ok ? undefined : claimed;
  },

  verify(_, received, keys) {
    const claimed = readClaimedSignature(HEADER, received.header);
    if (!claimed.ok) return claimed;
    if (received.url === "") return refuse("missing_signed_part");
    const signed = signedText(received);
    if (signed === undefined) return refuse("wrong_signature");
    const hash = hashOf(received.header("x-twilio-webhooks-signature-settings"));
    if (!hash) return refuse("malformed_signature");
    for (const key of keys) {
      const digest = createHmac(hash, key as Uint8Array)
        .update(signed)
        .digest();
      if (claimed.candidates.some((candidate) => equalBytes(candidate, digest))) {
        return { ok: true, signature: digest, covers: Buffer.from(signed) };
      }
    }
    return refuse("wrong_signature");
  },

  sign(_, unsigned, key) {
    if (unsigned.url === "") return refuse("missing_signed_part");
    const isForm = [...formOf(unsigned)].length > 0;
    const hash = createHash("sha256").update(unsigned.body).digest("hex");
    const url =
      isForm || unsigned.body.length === 0
        ? unsigned.url
        : `${unsigned.url}${unsigned.url.includes("?") ? "&" : "?"}bodySHA256=${hash}`;
    const signed = signedText({ ...unsigned, url });
    if (signed === undefined) return refuse("missing_signed_part");
    const signature = createHmac("sha1", key as Uint8Array)
      .update(signed)
      .digest("base64");
    return { ok: true, headers: { "x-twilio-signature": signature }, url };
  },
};

/** Undefined when the body isn't what the URL says it is. */
function signedText(received: Received): string | undefined {
  const { url, body } = received;
  const claimed = /[?&]bodySHA256=([^&#]*)/.exec(url)?.[1];
  if (claimed !== undefined) {
    const digest = decodeSignature(claimed, "hex");
    const actual = createHash("sha256").update(body).digest();
    return digest && equalBytes(digest, actual) ? url : undefined;
  }
  const form = sortedForm(formOf(received));
  // A body that is neither a form nor named by the URL is signed by nobody.
  return form === "" && body.length > 0 ? undefined : url + form;
}

/** As its SDK reads it: without an algorithm the header changes nothing, and one that isn't known is refused. */
function hashOf(settings = ""): "sha1" | "sha256" | undefined {
  const named = settings
    .split(",")
    .map((part) => /^\s*algorithm\s*=\s*(\S+)\s*$/.exec(part)?.[1])
    .find((algorithm) => algorithm !== undefined);
  const algorithm = named?.toUpperCase() ?? "HMAC_SHA1";
  if (algorithm === "HMAC_SHA256") return "sha256";
  return algorithm === "HMAC_SHA1" ? "sha1" : undefined;
}
