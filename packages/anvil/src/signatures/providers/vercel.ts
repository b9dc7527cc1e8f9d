import type { Provider } from "../provider.ts";

/** SHA-1. */
export const vercel: Provider = {
  name: "vercel",
  scheme: {
    kind: "hmac",
    hash: "sha1",
    secret: "utf8",
    signature: { header: "x-vercel-signature", encoding: "hex", layout: { kind: "single" } },
    message: "{body}",
  },
  identity: [{ body: "id" }],
  type: [{ body: "type" }],
  keepHeaders: [],
  docs: "https://vercel.com/docs/webhooks/webhooks-api",
};
