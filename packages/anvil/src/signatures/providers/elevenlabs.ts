import type { Provider } from "../provider.ts";

/** The version is v0; 30 minutes. No id of an event: kind, conversation and time together. */
export const elevenlabs: Provider = {
  name: "elevenlabs",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: {
      header: "elevenlabs-signature",
      encoding: "hex",
      layout: { kind: "pairs", separator: ",", key: "v0" },
    },
    timestamp: { from: { pair: "t" }, unit: "s", toleranceS: 1800 },
    message: "{timestamp}.{body}",
  },
  identity: [{ body: "type" }, { body: "data.conversation_id" }, { body: "event_timestamp", number: true }],
  type: [{ body: "type" }],
  keepHeaders: [],
  docs: "https://elevenlabs.io/docs/agents-platform/workflows/post-call-webhooks",
};
