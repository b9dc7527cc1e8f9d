import type { Provider } from "../provider.ts";

/** X-WC-Webhook-Delivery-ID is new at each attempt, so equal bodies count as one event. It never tries again. */
export const woocommerce: Provider = {
  name: "woocommerce",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "x-wc-webhook-signature", encoding: "base64", layout: { kind: "single" } },
    message: "{body}",
  },
  type: [{ header: "x-wc-webhook-topic" }],
  handshake: "woocommerce",
  keepHeaders: ["x-wc-webhook-topic", "x-wc-webhook-source", "x-wc-webhook-id", "x-wc-webhook-delivery-id"],
  docs: "https://woocommerce.com/document/webhooks/",
};
