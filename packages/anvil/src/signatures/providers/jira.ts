import type { Provider } from "../provider.ts";

/** Jira Cloud. The identifier stays on a retry, and isn't signed. */
export const jira: Provider = {
  name: "jira",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "x-hub-signature", encoding: "hex", layout: { kind: "single", prefix: "sha256=" } },
    message: "{body}",
  },
  identity: [{ header: "x-atlassian-webhook-identifier" }],
  type: [{ body: "webhookEvent" }],
  keepHeaders: ["x-atlassian-webhook-identifier", "x-atlassian-webhook-retry"],
  docs: "https://developer.atlassian.com/cloud/jira/platform/webhooks/",
};
