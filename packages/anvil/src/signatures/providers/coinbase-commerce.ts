import type { Provider } from "../provider.ts";

/** attempt_number in the body changes with each try; the event's id doesn't. */
export const coinbaseCommerce: Provider = {
  name: "coinbase-commerce",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "x-cc-webhook-signature", encoding: "hex", layout: { kind: "single" } },
    message: "{body}",
  },
  identity: [{ body: "event.id" }],
  type: [{ body: "event.type" }],
  keepHeaders: [],
  docs: "https://docs.cdp.coinbase.com/commerce/webhooks",
};
