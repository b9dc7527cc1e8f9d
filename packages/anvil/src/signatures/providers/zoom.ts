import type { Provider } from "../provider.ts";

/** No id of an event: kind, time and object together, and who came or went where that is the event. */
export const zoom: Provider = {
  name: "zoom",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "x-zm-signature", encoding: "hex", layout: { kind: "single", prefix: "v0=" } },
    timestamp: { from: { header: "x-zm-request-timestamp" }, unit: "s", toleranceS: 300 },
    message: "v0:{timestamp}:{body}",
  },
  identity: [
    [
      { body: "event" },
      { body: "event_ts", number: true },
      { body: "payload.object.uuid" },
      { body: "payload.object.participant.user_id" },
    ],
    [{ body: "event" }, { body: "event_ts", number: true }, { body: "payload.object.uuid" }],
  ],
  type: [{ body: "event" }],
  handshake: "zoom",
  keepHeaders: ["x-zm-request-timestamp"],
  docs: "https://developers.zoom.us/docs/api/webhooks/#verify-webhook-events",
};
