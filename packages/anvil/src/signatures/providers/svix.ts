import type { Provider } from "../provider.ts";
import { standardWebhooksEd25519, standardWebhooksHmac } from "./standard-webhooks-scheme.ts";

/** Svix, and whoever sends through it: Standard Webhooks, v1a included, under older names of the headers. */
export const svix: Provider = {
  name: "svix",
  scheme: [standardWebhooksHmac("svix", "whsec"), standardWebhooksEd25519("svix")],
  identity: [{ header: "svix-id" }],
  type: [{ body: "type" }],
  secretProblem: (secret) =>
    secret.startsWith("whsk_")
      ? "is a private key; the sender's public one is wanted, it starts with whpk_"
      : undefined,
  keepHeaders: ["svix-id", "svix-timestamp"],
  docs: "https://docs.svix.com/receiving/verifying-payloads/how-manual",
};
