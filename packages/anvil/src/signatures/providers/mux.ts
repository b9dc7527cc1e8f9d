import type { Provider } from "../provider.ts";

export const mux: Provider = {
  name: "mux",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: {
      header: "mux-signature",
      encoding: "hex",
      layout: { kind: "pairs", separator: ",", key: "v1" },
    },
    timestamp: { from: { pair: "t" }, unit: "s", toleranceS: 300 },
    message: "{timestamp}.{body}",
  },
  identity: [{ body: "id" }],
  type: [{ body: "type" }],
  keepHeaders: [],
  docs: "https://www.mux.com/docs/core/verify-webhook-signatures",
};
