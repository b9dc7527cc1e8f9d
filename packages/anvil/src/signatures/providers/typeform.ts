import type { Provider } from "../provider.ts";

export const typeform: Provider = {
  name: "typeform",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: {
      header: "typeform-signature",
      encoding: "base64",
      layout: { kind: "single", prefix: "sha256=" },
    },
    message: "{body}",
  },
  identity: [{ body: "event_id" }],
  type: [{ body: "event_type" }],
  keepHeaders: [],
  docs: "https://www.typeform.com/developers/webhooks/secure-your-webhooks/",
};
