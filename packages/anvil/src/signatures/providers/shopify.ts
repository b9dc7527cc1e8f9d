import type { Provider } from "../provider.ts";

/**
 * X-Shopify-Webhook-Id is the one to go by, and isn't signed; X-Shopify-Event-Id is shared by subscriptions. After a
 * rotation of the secret the old one may sign for up to an hour: keep both. Newer deliveries have the headers
 * without `X-`.
 */
export const shopify: Provider = {
  name: "shopify",
  scheme: [
    {
      kind: "hmac",
      hash: "sha256",
      secret: "utf8",
      signature: { header: "x-shopify-hmac-sha256", encoding: "base64", layout: { kind: "single" } },
      message: "{body}",
    },
    {
      kind: "hmac",
      hash: "sha256",
      secret: "utf8",
      signature: { header: "shopify-hmac-sha256", encoding: "base64", layout: { kind: "single" } },
      message: "{body}",
    },
  ],
  identity: [[{ header: "x-shopify-webhook-id" }], [{ header: "shopify-webhook-id" }]],
  type: [[{ header: "x-shopify-topic" }], [{ header: "shopify-topic" }]],
  keepHeaders: [
    "x-shopify-topic",
    "x-shopify-shop-domain",
    "x-shopify-webhook-id",
    "x-shopify-event-id",
    "x-shopify-triggered-at",
    "x-shopify-api-version",
    "shopify-topic",
    "shopify-shop-domain",
    "shopify-webhook-id",
    "shopify-event-id",
    "shopify-triggered-at",
    "shopify-api-version",
  ],
  secretProblem: (secret) =>
    /^shp(at|ca|pa|ua)_/.test(secret) ? "is an access token; the app's client secret is wanted" : undefined,
  docs: "https://shopify.dev/docs/apps/build/webhooks/subscribe/https",
};
