import type { Provider } from "../provider.ts";

/**
 * Every attempt carries a new timestamp and signature, so only the body's `id` tells a redelivery. Stripe can
 * make two Event objects for one change; comparing `data.object.id` is the handler's business.
 */
export const stripe: Provider = {
  name: "stripe",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    // The whole text with its whsec_, not the base64 behind it.
    secret: "utf8",
    signature: {
      header: "stripe-signature",
      encoding: "hex",
      layout: { kind: "pairs", separator: ",", key: "v1" },
    },
    timestamp: { from: { pair: "t" }, unit: "s", toleranceS: 300 },
    message: "{timestamp}.{body}",
  },
  identity: [{ body: "id" }],
  type: [{ body: "type" }],
  keepHeaders: [],
  secretProblem: (secret) =>
    /^(sk|pk|rk)_/.test(secret)
      ? "is an API key; the endpoint's signing secret is wanted, it starts with whsec_"
      : /^whsec_.{4,}/.test(secret)
        ? undefined
        : "is no signing secret of Stripe, which starts with whsec_",
  docs: "https://docs.stripe.com/webhooks#verify-manually",
};
