import type { Provider } from "../provider.ts";

/** Signs the public URL as it was configured there. */
export const square: Provider = {
  name: "square",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "x-square-hmacsha256-signature", encoding: "base64", layout: { kind: "single" } },
    message: "{url}{body}",
  },
  identity: [{ body: "event_id" }],
  type: [{ body: "type" }],
  keepHeaders: [],
  docs: "https://developer.squareup.com/docs/webhooks/step3validate",
};
