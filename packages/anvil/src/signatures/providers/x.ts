import type { Provider } from "../provider.ts";

/** Account Activity. Ids are those of the objects inside. */
export const x: Provider = {
  name: "x",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: {
      header: "x-twitter-webhooks-signature",
      encoding: "base64",
      layout: { kind: "single", prefix: "sha256=" },
    },
    message: "{body}",
  },
  handshake: "x",
  keepHeaders: [],
  docs: "https://docs.x.com/x-api/webhooks/introduction",
};
