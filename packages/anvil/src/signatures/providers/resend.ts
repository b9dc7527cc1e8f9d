import type { Provider } from "../provider.ts";
import { standardWebhooksHmac } from "./standard-webhooks-scheme.ts";

/** Sends through Svix. */
export const resend: Provider = {
  name: "resend",
  scheme: standardWebhooksHmac("svix", "whsec"),
  identity: [{ header: "svix-id" }],
  type: [{ body: "type" }],
  keepHeaders: ["svix-id", "svix-timestamp"],
  docs: "https://resend.com/docs/dashboard/webhooks/verify-webhooks-requests",
};
