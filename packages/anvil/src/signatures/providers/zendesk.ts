import type { Provider } from "../provider.ts";

/**
 * The time comes first and the body after it. The secret looks like base64 and is used as the text that it is. Events
 * have a signed id; the bodies of triggers are templates, where `id` may be a ticket's, and go by the invocation's.
 */
export const zendesk: Provider = {
  name: "zendesk",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "x-zendesk-webhook-signature", encoding: "base64", layout: { kind: "single" } },
    timestamp: {
      from: { header: "x-zendesk-webhook-signature-timestamp" },
      unit: "rfc3339",
      toleranceS: 300,
    },
    message: "{timestamp}{body}",
  },
  identity: [
    [{ body: "id" }, { body: "type" }, { body: "time" }],
    [{ header: "x-zendesk-webhook-invocation-id" }],
  ],
  type: [{ body: "type" }],
  keepHeaders: [
    "x-zendesk-webhook-id",
    "x-zendesk-webhook-invocation-id",
    "x-zendesk-webhook-signature-timestamp",
  ],
  docs: "https://developer.zendesk.com/documentation/webhooks/verifying/",
};
