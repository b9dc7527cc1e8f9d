import type { Provider } from "../provider.ts";

/**
 * Signs the public URL. The token is the same for all tries of one request, and isn't signed; without it a message or
 * call is known by its id and its state, which are.
 */
export const twilio: Provider = {
  name: "twilio",
  scheme: { kind: "twilio" },
  identity: [
    [{ header: "i-twilio-idempotency-token" }],
    [{ form: "MessageSid" }, { form: "MessageStatus" }],
    [{ form: "CallSid" }, { form: "CallStatus" }, { form: "SequenceNumber" }],
  ],
  type: [
    [{ form: "EventType" }],
    [{ form: "MessageStatus" }],
    [{ form: "SmsStatus" }],
    [{ form: "CallStatus" }],
  ],
  keepHeaders: ["i-twilio-idempotency-token"],
  secretProblem: (secret) =>
    /^(AC|SK)[0-9a-f]{32}$/.test(secret)
      ? "is the id of an account or key; the auth token is wanted"
      : undefined,
  docs: "https://www.twilio.com/docs/usage/webhooks/webhooks-security",
};
