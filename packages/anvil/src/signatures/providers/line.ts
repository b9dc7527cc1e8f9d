import type { Provider } from "../provider.ts";

/**
 * A batch. isRedelivery in the body flips when it comes again; the ids stay. An empty one only asks whether anybody is
 * there, and isn't stored.
 */
export const line: Provider = {
  name: "line",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "x-line-signature", encoding: "base64", layout: { kind: "single" } },
    message: "{body}",
  },
  identity: [{ body: "events[].webhookEventId" }],
  type: [{ body: "events[].type" }],
  handshake: "line",
  batch: { list: "events[]", identity: [{ body: "webhookEventId" }], type: [{ body: "type" }] },
  keepHeaders: [],
  docs: "https://developers.line.biz/en/docs/messaging-api/verify-webhook-signature/",
};
