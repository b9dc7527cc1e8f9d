import type { Provider } from "../provider.ts";

/** The message's id and time are signed, its type isn't: judge by the subscription in the body. */
export const twitch: Provider = {
  name: "twitch",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: {
      header: "twitch-eventsub-message-signature",
      encoding: "hex",
      layout: { kind: "single", prefix: "sha256=" },
    },
    timestamp: { from: { header: "twitch-eventsub-message-timestamp" }, unit: "rfc3339", toleranceS: 600 },
    message: "{header:twitch-eventsub-message-id}{timestamp}{body}",
  },
  identity: [{ header: "twitch-eventsub-message-id" }],
  type: [{ body: "subscription.type" }],
  handshake: "twitch",
  keepHeaders: [
    "twitch-eventsub-message-id",
    "twitch-eventsub-message-type",
    "twitch-eventsub-message-timestamp",
    "twitch-eventsub-message-retry",
  ],
  docs: "https://dev.twitch.tv/docs/eventsub/handling-webhook-events/",
};
