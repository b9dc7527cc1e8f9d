import type { Provider } from "../provider.ts";

/**
 * Signs the public URL and the form's fields. SHA-1. Its events are JSON inside of a form's field: equal bodies count as
 * one delivery, and ids are the handler's to compare.
 */
export const mandrill: Provider = {
  name: "mandrill",
  scheme: {
    kind: "hmac",
    hash: "sha1",
    secret: "utf8",
    signature: { header: "x-mandrill-signature", encoding: "base64", layout: { kind: "single" } },
    message: "{url}{form}",
  },
  handshake: "mandrill",
  keepHeaders: [],
  docs: "https://mailchimp.com/developer/transactional/guides/track-respond-activity-webhooks/#authenticating-webhook-requests",
};
