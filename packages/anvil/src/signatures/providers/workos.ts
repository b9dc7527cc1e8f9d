import type { Provider } from "../provider.ts";

/** Milliseconds. Its SDK signs the parsed and printed body; the raw one is what is sent. */
export const workos: Provider = {
  name: "workos",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: {
      header: "workos-signature",
      encoding: "hex",
      layout: { kind: "pairs", separator: ",", key: "v1" },
    },
    timestamp: { from: { pair: "t" }, unit: "ms", toleranceS: 180 },
    message: "{timestamp}.{body}",
  },
  identity: [{ body: "id" }],
  type: [{ body: "event" }],
  keepHeaders: [],
  docs: "https://workos.com/docs/events/data-syncing/webhooks",
};
