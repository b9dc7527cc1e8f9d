import type { Provider } from "../provider.ts";

/**
 * The secret is the one of its handshake. No ids of events, and a heartbeat has an empty list: equal bodies are two
 * events.
 */
export const asana: Provider = {
  name: "asana",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "x-hook-signature", encoding: "hex", layout: { kind: "single" } },
    message: "{body}",
  },
  identity: "each-delivery",
  type: [{ body: "events[].action" }],
  handshake: "asana",
  batch: { list: "events[]", type: [{ body: "action" }] },
  keepHeaders: [],
  docs: "https://developers.asana.com/docs/webhooks-guide",
};
