import type { Provider } from "../provider.ts";
import { standardWebhooksHmac } from "./standard-webhooks-scheme.ts";

/** Standard Webhooks. Its SDK checks no timestamp; this row does. */
export const replicate: Provider = {
  name: "replicate",
  scheme: standardWebhooksHmac("webhook", "whsec"),
  identity: [{ header: "webhook-id" }],
  type: [{ body: "status" }],
  keepHeaders: ["webhook-id", "webhook-timestamp"],
  docs: "https://replicate.com/docs/topics/webhooks/verify-webhook",
};
