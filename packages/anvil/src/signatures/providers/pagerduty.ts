import type { Provider } from "../provider.ts";

/** Several `v1` while a secret is rotated. */
export const pagerduty: Provider = {
  name: "pagerduty",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: {
      header: "x-pagerduty-signature",
      encoding: "hex",
      layout: { kind: "pairs", separator: ",", key: "v1" },
    },
    message: "{body}",
  },
  identity: [{ body: "event.id" }],
  type: [{ body: "event.event_type" }],
  keepHeaders: ["x-webhook-id"],
  docs: "https://developer.pagerduty.com/docs/verifying-webhook-signatures",
};
