import type { Provider } from "../provider.ts";

/** No HMAC: a hash with the secret at its end. The window is two hours, its SDK's own. */
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
  type: [{ body: "notification_type" }],
  keepHeaders: ["x-cld-timestamp"],
  docs: "https://cloudinary.com/documentation/notification_signatures",
};
