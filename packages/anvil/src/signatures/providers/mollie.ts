import type { Provider } from "../provider.ts";

/**
 * The newer webhooks. The classic ones are unsigned and name a payment that is to be fetched, again at each of its
 * changes: they can't be verified, and are refused.
 */
export const mollie: Provider = {
  name: "mollie",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: {
      header: "x-mollie-signature",
      encoding: "hex",
      layout: { kind: "single", prefix: "sha256=" },
    },
    message: "{body}",
  },
  identity: [{ body: "id" }],
  type: [{ body: "type" }],
  keepHeaders: [],
  docs: "https://docs.mollie.com/reference/webhooks-new",
};
