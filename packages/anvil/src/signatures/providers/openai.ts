import type { Provider } from "../provider.ts";
import { standardWebhooksHmac } from "./standard-webhooks-scheme.ts";

/** Standard Webhooks; a secret without `whsec_` is used as the text that it is (its SDK 6.49.0). */
export const openai: Provider = {
  name: "openai",
  scheme: standardWebhooksHmac("webhook", "whsec-or-text"),
  identity: [{ header: "webhook-id" }],
  type: [{ body: "type" }],
  keepHeaders: ["webhook-id", "webhook-timestamp"],
  secretProblem: (secret) =>
    /^wh[ps]k_/.test(secret) ? "is an asymmetric key; the webhook's secret is wanted" : undefined,
  docs: "https://platform.openai.com/docs/guides/webhooks",
};
