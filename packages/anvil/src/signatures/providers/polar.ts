import type { Provider } from "../provider.ts";
import { standardWebhooksHmac } from "./standard-webhooks-scheme.ts";

/** Standard Webhooks, keyed with the text of the whole secret and not with what it could be decoded to. */
export const polar: Provider = {
  name: "polar",
  scheme: standardWebhooksHmac("webhook", "utf8"),
  identity: [{ header: "webhook-id" }],
  type: [{ body: "type" }],
  keepHeaders: ["webhook-id", "webhook-timestamp"],
  secretProblem: (secret) =>
    /^wh[ps]k_/.test(secret) ? "is an asymmetric key; the webhook's secret is wanted" : undefined,
  docs: "https://polar.sh/docs/integrate/webhooks/delivery",
};
