import type { Provider } from "../provider.ts";

/** Standard Webhooks. Its SDK checks no timestamp; this row does. */
export const replicate: Provider = {
  name: "replicate",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "whsec",
    signature: {
      header: "webhook-signature",
      encoding: "base64",
      layout: { kind: "versions", version: "v1" },
    },
    timestamp: { from: { header: "webhook-timestamp" }, unit: "s", toleranceS: 300 },
    message: "{header:webhook-id}.{timestamp}.{body}",
  },
  identity: [{ header: "webhook-id" }],
  type: [{ body: "status" }],
  keepHeaders: ["webhook-id", "webhook-timestamp"],
  docs: "https://replicate.com/docs/topics/webhooks/verify-webhook",
};
