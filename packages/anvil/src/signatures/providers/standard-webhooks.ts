import type { Provider } from "../provider.ts";

/**
 * The scheme of standardwebhooks.com: a signed id that stays, a timestamp that is new at each attempt. The secret is
 * `whsec_…`, or for senders that sign with a key of their own (v1a) their public key, `whpk_…`.
 */
export const standardWebhooks: Provider = {
  name: "standard-webhooks",
  scheme: [
    {
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
    {
      kind: "public-key",
      algorithm: "ed25519",
      key: "whpk",
      signature: {
        header: "webhook-signature",
        encoding: "base64",
        layout: { kind: "versions", version: "v1a" },
      },
      timestamp: { from: { header: "webhook-timestamp" }, unit: "s", toleranceS: 300 },
      message: "{header:webhook-id}.{timestamp}.{body}",
    },
  ],
  identity: [{ header: "webhook-id" }],
  type: [{ body: "type" }],
  keepHeaders: ["webhook-id", "webhook-timestamp"],
  secretProblem: (secret) =>
    secret.startsWith("whsk_")
      ? "is a private key; the sender's public one is wanted, it starts with whpk_"
      : undefined,
  docs: "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md",
};
