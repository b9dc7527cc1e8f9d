import type { Provider } from "../provider.ts";

/**
 * With a signing token: Standard Webhooks. Without, a plain token that proves the sender and nothing of the body. Of
 * its three look-alikes only Idempotency-Key is one for each event and stays on a retry; webhook-id is the same, and
 * signed. X-Gitlab-Webhook-UUID is the hook's, X-Gitlab-Event-UUID is shared by hooks that call each other.
 */
export const gitlab: Provider = {
  name: "gitlab",
  scheme: [
    {
      kind: "hmac",
      hash: "sha256",
      secret: "whsec-only",
      signature: {
        header: "webhook-signature",
        encoding: "base64",
        layout: { kind: "versions", version: "v1" },
      },
      timestamp: { from: { header: "webhook-timestamp" }, unit: "s", toleranceS: 300 },
      message: "{header:webhook-id}.{timestamp}.{body}",
    },
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
