import type { Provider } from "../provider.ts";

/** Milliseconds. Its SDK checks no window; this row does. The type is `create`, `update` or `delete`, unsigned. */
export const sanity: Provider = {
  name: "sanity",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: {
      header: "sanity-webhook-signature",
      encoding: "base64url",
      layout: { kind: "pairs", separator: ",", key: "v1" },
    },
    timestamp: { from: { pair: "t" }, unit: "ms", toleranceS: 300 },
    message: "{timestamp}.{body}",
  },
  identity: [{ header: "idempotency-key" }],
  type: [{ header: "sanity-operation" }],
  keepHeaders: [
    "idempotency-key",
    "sanity-document-id",
    "sanity-operation",
    "sanity-dataset",
    "sanity-project-id",
  ],
  docs: "https://www.sanity.io/docs/webhooks",
};
