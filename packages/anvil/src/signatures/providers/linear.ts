import type { Provider } from "../provider.ts";

/**
 * The time is in the body, and signed with it; the header Linear-Timestamp isn't, nor is Linear-Delivery, the only id
 * of an event that there is. The window of a minute bounds how long another id could be put on a captured one.
 */
export const linear: Provider = {
  name: "linear",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "linear-signature", encoding: "hex", layout: { kind: "single" } },
    timestamp: { from: { body: "webhookTimestamp" }, unit: "ms", toleranceS: 60 },
    message: "{body}",
  },
  identity: [{ header: "linear-delivery" }],
  type: [{ body: "type" }, { body: "action" }],
  keepHeaders: ["linear-delivery", "linear-event"],
  docs: "https://linear.app/developers/webhooks",
};
