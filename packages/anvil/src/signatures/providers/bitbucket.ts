import type { Provider } from "../provider.ts";

/** Bitbucket Cloud. X-Request-UUID isn't signed; X-Hook-UUID is the hook's. */
export const bitbucket: Provider = {
  name: "bitbucket",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "x-hub-signature", encoding: "hex", layout: { kind: "single", prefix: "sha256=" } },
    message: "{body}",
  },
  identity: [{ header: "x-request-uuid" }],
  type: [{ header: "x-event-key" }],
  keepHeaders: ["x-event-key", "x-request-uuid", "x-hook-uuid", "x-attempt-number"],
  docs: "https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/",
};
