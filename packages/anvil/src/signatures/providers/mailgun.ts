import type { Provider } from "../provider.ts";

/**
 * Signs a time and a token, and nothing of the event. Who has captured a delivery could change it and send it inside
 * the window; so a token is good for one event.
 */
export const mailgun: Provider = {
  name: "mailgun",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { field: "signature.signature", encoding: "hex" },
    timestamp: { from: { body: "signature.timestamp" }, unit: "s", toleranceS: 300 },
    message: "{field:signature.timestamp}{field:signature.token}",
  },
  identity: [{ body: "event-data.id" }],
  type: [{ body: "event-data.event" }],
  once: { body: "signature.token", forS: 600 },
  keepHeaders: [],
  docs: "https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks",
};
