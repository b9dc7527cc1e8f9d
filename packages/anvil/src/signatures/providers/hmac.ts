import type { Provider } from "../provider.ts";

/** The default source: `x-signature: sha256=<hex>`, or the bare digest. For senders of your own. */
export const hmac: Provider = {
  name: "hmac",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: {
      header: "x-signature",
      encoding: "hex",
      layout: { kind: "single", prefix: "sha256=", prefixOptional: true },
    },
    message: "{body}",
  },
  type: [{ body: "type" }],
  keepHeaders: [],
  docs: "https://datatracker.ietf.org/doc/html/rfc2104",
};
