import type { Provider } from "../provider.ts";

/** Sends through Svix. */
export const resend: Provider = {
  name: "resend",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "whsec",
    signature: { header: "svix-signature", encoding: "base64", layout: { kind: "versions", version: "v1" } },
    timestamp: { from: { header: "svix-timestamp" }, unit: "s", toleranceS: 300 },
    message: "{header:svix-id}.{timestamp}.{body}",
  },
  identity: [{ header: "svix-id" }],
  type: [{ body: "type" }],
  keepHeaders: ["svix-id", "svix-timestamp"],
  docs: "https://resend.com/docs/dashboard/webhooks/verify-webhooks-requests",
};
