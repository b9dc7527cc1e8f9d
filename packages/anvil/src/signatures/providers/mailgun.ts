import type { Provider } from "../provider.ts";

/**
 * Signs a time and a token, and nothing of the event: who has captured a delivery can change it and send it inside
 * the window.
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
  keepHeaders: [],
  docs: "https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks",
};
