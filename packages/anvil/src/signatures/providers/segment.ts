import type { Provider } from "../provider.ts";

/** SHA-1 over the raw body, whatever the snippet in its documents does. */
export const segment: Provider = {
  name: "segment",
  scheme: {
    kind: "hmac",
    hash: "sha1",
    secret: "utf8",
    signature: { header: "x-signature", encoding: "hex", layout: { kind: "single" } },
    message: "{body}",
  },
  identity: [{ body: "messageId" }],
  type: [{ body: "type" }],
  keepHeaders: [],
  docs: "https://segment.com/docs/connections/destinations/catalog/webhooks/",
};
