import type { Provider } from "../provider.ts";

/** Request-ID isn't signed, nor is Sentry-Hook-Timestamp. */
export const sentry: Provider = {
  name: "sentry",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "sentry-hook-signature", encoding: "hex", layout: { kind: "single" } },
    message: "{body}",
  },
  identity: [{ header: "request-id" }],
  type: [{ header: "sentry-hook-resource" }, { body: "action" }],
  keepHeaders: ["request-id", "sentry-hook-resource", "sentry-hook-timestamp"],
  docs: "https://docs.sentry.io/organization/integrations/integration-platform/webhooks/",
};
