import type { Provider } from "../provider.ts";

/**
 * It never tries again, so nothing is a repetition: X-WC-Webhook-Delivery-ID is of the second and the webhook, and with
 * the topic and the object one event. Equal bodies are not: what is created is at once updated too. None of it is signed
 * but the body.
 */
export const woocommerce: Provider = {
  name: "woocommerce",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "x-wc-webhook-signature", encoding: "base64", layout: { kind: "single" } },
    message: "{body}",
  },
  identity: [
    [{ header: "x-wc-webhook-delivery-id" }, { header: "x-wc-webhook-topic" }, { body: "id", number: true }],
    "each-delivery",
  ],
  type: [{ header: "x-wc-webhook-topic" }],
  handshake: "woocommerce",
  keepHeaders: ["x-wc-webhook-topic", "x-wc-webhook-source", "x-wc-webhook-id", "x-wc-webhook-delivery-id"],
  docs: "https://woocommerce.com/document/webhooks/",
};
