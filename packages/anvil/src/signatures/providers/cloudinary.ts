import type { Provider } from "../provider.ts";

/**
 * No HMAC: a hash with the secret at its end. The window is two hours, its SDK's own. No id of an event: kind, asset,
 * version and time together; what has no asset counts as an event each time that it is signed.
 */
export const cloudinary: Provider = {
  name: "cloudinary",
  scheme: {
    kind: "hmac",
    hash: ["sha1", "sha256"],
    construction: "plain",
    secret: "utf8",
    signature: { header: "x-cld-signature", encoding: "hex", layout: { kind: "single" } },
    timestamp: { from: { header: "x-cld-timestamp" }, unit: "s", toleranceS: 7200 },
    message: "{body}{timestamp}{secret}",
  },
  identity: [
    { body: "notification_type" },
    { body: "asset_id" },
    { body: "version", number: true },
    { body: "timestamp" },
  ],
  type: [{ body: "notification_type" }],
  keepHeaders: ["x-cld-timestamp"],
  docs: "https://cloudinary.com/documentation/notification_signatures",
};
