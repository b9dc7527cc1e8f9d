import type { Provider } from "../provider.ts";
import { standardWebhooksHmac } from "./standard-webhooks-scheme.ts";

/** Standard Webhooks; the secret must have its `whsec_`. */
export const liveblocks: Provider = {
  name: "liveblocks",
  scheme: standardWebhooksHmac("webhook", "whsec-only"),
  identity: [{ header: "webhook-id" }],
  type: [{ body: "type" }],
  keepHeaders: ["webhook-id", "webhook-timestamp"],
  docs: "https://liveblocks.io/docs/platform/webhooks",
};
