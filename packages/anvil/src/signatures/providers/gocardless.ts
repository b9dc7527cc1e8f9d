import type { Provider } from "../provider.ts";

/** A batch: one that comes again has the same ids in the same order. */
export const gocardless: Provider = {
  name: "gocardless",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "webhook-signature", encoding: "hex", layout: { kind: "single" } },
    message: "{body}",
  },
  identity: [{ body: "events[].id" }],
  type: [{ body: "events[].resource_type" }, { body: "events[].action" }],
  batch: {
    list: "events[]",
    identity: [{ body: "id" }],
    type: [{ body: "resource_type" }, { body: "action" }],
  },
  keepHeaders: [],
  docs: "https://developer.gocardless.com/getting-started/staying-up-to-date-with-webhooks/",
};
