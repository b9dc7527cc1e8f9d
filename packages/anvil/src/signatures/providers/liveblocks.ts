import type { Provider } from "../provider.ts";

/** Standard Webhooks; the secret must have its `whsec_`. */
export const liveblocks: Provider = {
  name: "liveblocks",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "whsec-only",
    signature: {
      header: "webhook-signature",
      encoding: "base64",
      layout: { kind: "versions", version: "v1" },
    },
    timestamp: { from: { header: "webhook-timestamp" }, unit: "s", toleranceS: 300 },
    message: "{header:webhook-id}.{timestamp}.{body}",
  },
  identity: [{ header: "webhook-id" }],
  type: [{ body: "type" }],
  keepHeaders: ["webhook-id", "webhook-timestamp"],
  docs: "https://liveblocks.io/docs/platform/webhooks",
};
