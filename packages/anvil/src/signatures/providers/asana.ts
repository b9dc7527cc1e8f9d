import type { Provider } from "../provider.ts";

/**
 * The secret is the one of its handshake. A heartbeat is an empty list, which is answered and not stored: equal ones
 * are legitimate. No ids of events otherwise, but their times: equal bodies are one delivery that came again.
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
  type: [{ body: "events[].resource.resource_type" }, { body: "events[].action" }],
  handshake: "asana",
  batch: { list: "events[]", type: [{ body: "resource.resource_type" }, { body: "action" }] },
  keepHeaders: [],
  docs: "https://developers.asana.com/docs/webhooks-guide",
};
