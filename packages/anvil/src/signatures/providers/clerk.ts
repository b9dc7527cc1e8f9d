import type { Provider } from "../provider.ts";
import { standardWebhooksHmac } from "./standard-webhooks-scheme.ts";

/** Sends through Svix. */
export const clerk: Provider = {
  name: "clerk",
  scheme: standardWebhooksHmac("svix", "whsec"),
  identity: [{ header: "svix-id" }],
  type: [{ body: "type" }],
  keepHeaders: ["svix-id", "svix-timestamp"],
  docs: "https://clerk.com/docs/webhooks/sync-data",
};
