import type { Provider } from "../provider.ts";
import { standardWebhooksEd25519, standardWebhooksHmac } from "./standard-webhooks-scheme.ts";

/**
 * The scheme of standardwebhooks.com: a signed id that stays, a timestamp that is new at each attempt. The secret is
 * `whsec_…`, or for senders that sign with a key of their own (v1a) their public key, `whpk_…`.
 */
export const standardWebhooks: Provider = {
  name: "standard-webhooks",
  scheme: [standardWebhooksHmac("webhook", "whsec"), standardWebhooksEd25519("webhook")],
  identity: [{ header: "webhook-id" }],
  type: [{ body: "type" }],
  keepHeaders: ["webhook-id", "webhook-timestamp"],
  secretProblem: (secret) =>
    secret.startsWith("whsk_")
      ? "is a private key; the sender's public one is wanted, it starts with whpk_"
      : undefined,
  docs: "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md",
};
