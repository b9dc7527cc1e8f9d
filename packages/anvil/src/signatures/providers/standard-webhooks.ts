import type { Provider } from "../provider.ts";

/** The scheme of standardwebhooks.com: a signed id that stays, a timestamp that is new at each attempt. */
export const standardWebhooks: Provider = {
  name: "standard-webhooks",
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
  type: [{ body: "type" }],
  keepHeaders: ["webhook-id", "webhook-timestamp"],
  secretProblem: (secret) =>
    /^wh[ps]k_/.test(secret) ? "is an asymmetric key; this scheme wants the whsec_ secret" : undefined,
  docs: "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md",
};
