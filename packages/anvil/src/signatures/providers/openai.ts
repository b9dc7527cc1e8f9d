import type { Provider } from "../provider.ts";

/** Standard Webhooks; a secret without `whsec_` is used as the text that it is (its SDK 6.49.0). */
export const openai: Provider = {
  name: "openai",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "whsec-or-text",
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
  secretProblem: (secret) =>
    /^wh[ps]k_/.test(secret) ? "is an asymmetric key; the webhook's secret is wanted" : undefined,
  docs: "https://platform.openai.com/docs/guides/webhooks",
};
