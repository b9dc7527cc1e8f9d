import type { Provider } from "../provider.ts";

/** X-Razorpay-Event-Id isn't signed. */
export const razorpay: Provider = {
  name: "razorpay",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "x-razorpay-signature", encoding: "hex", layout: { kind: "single" } },
    message: "{body}",
  },
  identity: [{ header: "x-razorpay-event-id" }],
  type: [{ body: "event" }],
  keepHeaders: ["x-razorpay-event-id"],
  docs: "https://razorpay.com/docs/webhooks/validate-test/",
};
