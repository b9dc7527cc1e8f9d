import type { Provider } from "../provider.ts";

/**
 * The secret is the webhook's id. The body is bound by its CRC-32, and the certificate comes from a URL that must be
 * PayPal's.
 */
export const paypal: Provider = {
  name: "paypal",
  scheme: { kind: "paypal" },
  identity: [{ body: "id" }],
  type: [{ body: "event_type" }],
  keepHeaders: ["paypal-transmission-id", "paypal-transmission-time"],
  docs: "https://developer.paypal.com/api/rest/webhooks/rest/",
};
