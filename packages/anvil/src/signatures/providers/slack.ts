import type { Provider } from "../provider.ts";

/**
 * A retry has the same event_id and a new timestamp; X-Slack-Retry-Num on it doesn't mean that the first try
 * arrived. Buttons and slash commands come as forms, the first with JSON in a field of it: they have a trigger_id, and
 * a command is its own type (`/deploy`).
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
  identity: [[{ body: "event_id" }], [{ body: "trigger_id" }], [{ form: "trigger_id" }]],
  type: [[{ body: "type" }, { body: "event.type" }], [{ form: "command" }]],
  handshake: "slack",
  keepHeaders: ["x-slack-request-timestamp", "x-slack-retry-num", "x-slack-retry-reason"],
  secretProblem: (secret) =>
    /^(xox[a-z]|xapp)-/.test(secret) ? "is a token; the app's signing secret is wanted" : undefined,
  docs: "https://docs.slack.dev/authentication/verifying-requests-from-slack/",
};
