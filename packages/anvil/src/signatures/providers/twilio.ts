import type { Provider } from "../provider.ts";

/**
 * Signs the public URL. The token is the same for all tries of one request; without it a message or call is known by
 * its ids and its state.
 */
export const twilio: Provider = {
  name: "twilio",
  scheme: { kind: "twilio" },
  identity: [{ header: "i-twilio-idempotency-token" }],
  type: [{ form: "EventType" }],
  keepHeaders: ["i-twilio-idempotency-token"],
  docs: "https://www.twilio.com/docs/usage/webhooks/webhooks-security",
};
