import type { Provider } from "../provider.ts";

/** Several `h1` while a secret is rotated; its SDK looks at the last one only. The window is its SDK's own 5 s. */
export const paddle: Provider = {
  name: "paddle",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: {
      header: "paddle-signature",
      encoding: "hex",
      layout: { kind: "pairs", separator: ";", key: "h1" },
    },
    timestamp: { from: { pair: "ts" }, unit: "s", toleranceS: 5 },
    message: "{timestamp}:{body}",
  },
  identity: [{ body: "event_id" }],
  type: [{ body: "event_type" }],
  keepHeaders: [],
  docs: "https://developer.paddle.com/webhooks/signature-verification",
};
