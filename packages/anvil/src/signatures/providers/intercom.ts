import type { Provider } from "../provider.ts";

/** SHA-1. delivery_attempts in the body changes with each try; the id doesn't. */
export const intercom: Provider = {
  name: "intercom",
  scheme: {
    kind: "hmac",
    hash: "sha1",
    secret: "utf8",
    signature: { header: "x-hub-signature", encoding: "hex", layout: { kind: "single", prefix: "sha1=" } },
    message: "{body}",
  },
  identity: [{ body: "id" }],
  type: [{ body: "topic" }],
  handshake: "head",
  keepHeaders: [],
  docs: "https://developers.intercom.com/docs/webhooks/setting-up-webhooks",
};
