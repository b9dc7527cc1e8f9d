import type { Provider } from "../provider.ts";

/** Standard Webhooks, keyed with the text of the whole secret and not with what it could be decoded to. */
export const polar: Provider = {
  name: "polar",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
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
  docs: "https://polar.sh/docs/integrate/webhooks/delivery",
};
