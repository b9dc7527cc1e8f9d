import type { Provider } from "../provider.ts";

/**
 * Redelivering, by hand or through the API, keeps X-GitHub-Delivery. The header isn't signed: whoever captured
 * a delivery can send it again under another id.
 */
export const github: Provider = {
  name: "github",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: {
      header: "x-hub-signature-256",
      encoding: "hex",
      layout: { kind: "single", prefix: "sha256=" },
    },
    message: "{body}",
  },
  identity: [{ header: "x-github-delivery" }],
  type: [{ header: "x-github-event" }, { body: "action" }],
  keepHeaders: ["x-github-event", "x-github-delivery", "x-github-hook-id", "user-agent"],
  secretProblem: (secret) =>
    /^(gh[a-z]_|github_pat_)/.test(secret) ? "is an access token; the webhook's secret is wanted" : undefined,
  docs: "https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries",
};
