import type { Provider } from "../provider.ts";

/** A signal that something has changed, without saying what: equal bodies are two events. */
export const dropbox: Provider = {
  name: "dropbox",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "x-dropbox-signature", encoding: "hex", layout: { kind: "single" } },
    message: "{body}",
  },
  identity: "each-delivery",
  type: [{ nameBeside: ["delta"] }],
  handshake: "dropbox",
  keepHeaders: [],
  docs: "https://www.dropbox.com/developers/reference/webhooks",
};
