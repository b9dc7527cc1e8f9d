import type { Provider } from "../provider.ts";
import { standardWebhooksHmac } from "./standard-webhooks-scheme.ts";

/**
 * With a signing token: Standard Webhooks. Without, a plain token that proves the sender and nothing of the body. Of
 * its three look-alikes only Idempotency-Key is one for each event and stays on a retry; webhook-id is the same, and
 * signed. X-Gitlab-Webhook-UUID is the hook's, X-Gitlab-Event-UUID is shared by hooks that call each other.
 */
export const gitlab: Provider = {
  name: "gitlab",
  scheme: [
    standardWebhooksHmac("webhook", "whsec-only"),
    { kind: "token", from: { header: "x-gitlab-token" }, notFor: "whsec_" },
  ],
  identity: [[{ header: "webhook-id" }], [{ header: "idempotency-key" }]],
  type: [{ body: "object_kind" }],
  keepHeaders: [
    "x-gitlab-event",
    "x-gitlab-instance",
    "webhook-id",
    "idempotency-key",
    "x-gitlab-event-uuid",
    "x-gitlab-webhook-uuid",
  ],
  docs: "https://docs.gitlab.com/user/project/integrations/webhooks/",
};
