import type { Provider } from "../provider.ts";

/** Signs the body and, after it, the public URL as it was configured there. SHA-1. */
export const trello: Provider = {
  name: "trello",
  scheme: {
    kind: "hmac",
    hash: "sha1",
    secret: "utf8",
    signature: { header: "x-trello-webhook", encoding: "base64", layout: { kind: "single" } },
    message: "{body}{url}",
  },
  identity: [{ body: "action.id" }],
  type: [{ body: "action.type" }],
  handshake: "head",
  keepHeaders: [],
  docs: "https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/",
};
