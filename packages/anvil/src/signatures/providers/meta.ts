import type { Provider } from "../provider.ts";

/**
 * Facebook, Instagram and WhatsApp. The bytes are signed as they are sent, with \u escapes. Its batches may be cut
 * anew when they come again: equal bodies count as one delivery, and inner ids are the handler's to compare. Split,
 * WhatsApp's messages and statuses are known by theirs.
 */
export const meta: Provider = {
  name: "meta",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: {
      header: "x-hub-signature-256",
      encoding: "hex",
      layout: { kind: "single", prefix: "sha256=" },
    },
    message: "{body}",
  },
  type: [{ body: "object" }, { body: "entry[].changes[].field" }],
  handshake: "meta",
  batch: {
    list: "entry[]",
    identity: [
      [{ body: "changes[].value.messages[].id" }],
      [{ body: "changes[].value.statuses[].id" }, { body: "changes[].value.statuses[].status" }],
    ],
    type: [{ body: "changes[].field" }],
  },
  keepHeaders: [],
  docs: "https://developers.facebook.com/docs/graph-api/webhooks/getting-started",
};
