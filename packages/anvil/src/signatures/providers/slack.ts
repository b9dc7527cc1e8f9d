import type { Provider } from "../provider.ts";

/**
 * A retry has the same event_id and a new timestamp; X-Slack-Retry-Num on it doesn't mean that the first try
 * arrived. Slash commands and buttons come as forms and have a trigger_id.
 */
export const slack: Provider = {
  name: "slack",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "x-slack-signature", encoding: "hex", layout: { kind: "single", prefix: "v0=" } },
    timestamp: { from: { header: "x-slack-request-timestamp" }, unit: "s", toleranceS: 300 },
    message: "v0:{timestamp}:{body}",
  },
  identity: [{ body: "event_id" }],
  type: [{ body: "type" }, { body: "event.type" }],
  handshake: "slack",
  keepHeaders: ["x-slack-request-timestamp", "x-slack-retry-num", "x-slack-retry-reason"],
  docs: "https://docs.slack.dev/authentication/verifying-requests-from-slack/",
};
