import type { Provider } from "../provider.ts";

/** No id of an event: kind, subject and time together. */
export const calendly: Provider = {
  name: "calendly",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: {
      header: "calendly-webhook-signature",
      encoding: "hex",
      layout: { kind: "pairs", separator: ",", key: "v1" },
    },
    timestamp: { from: { pair: "t" }, unit: "s", toleranceS: 180 },
    message: "{timestamp}.{body}",
  },
  identity: [{ body: "event" }, { body: "payload.uri" }, { body: "created_at" }],
  type: [{ body: "event" }],
  keepHeaders: [],
  docs: "https://developer.calendly.com/api-docs/4c305798a61d3-webhook-signatures",
};
