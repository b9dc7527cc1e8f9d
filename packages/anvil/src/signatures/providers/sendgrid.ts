import type { Provider } from "../provider.ts";

/**
 * A batch: each item has an sg_event_id, and one that comes again has the same in the same order. The secret is the public key that its settings show. SendGrid promises no
 * window; ten minutes are ours.
 */
export const sendgrid: Provider = {
  name: "sendgrid",
  scheme: {
    kind: "public-key",
    algorithm: "ecdsa-p256",
    key: "spki",
    signature: {
      header: "x-twilio-email-event-webhook-signature",
      encoding: "base64",
      layout: { kind: "single" },
    },
    timestamp: { from: { header: "x-twilio-email-event-webhook-timestamp" }, unit: "s", toleranceS: 600 },
    message: "{timestamp}{body}",
  },
  identity: [{ body: "[].sg_event_id" }],
  type: [{ body: "[].event" }],
  batch: { list: "[]", identity: [{ body: "sg_event_id" }], type: [{ body: "event" }] },
  keepHeaders: ["x-twilio-email-event-webhook-timestamp"],
  docs: "https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features",
};
