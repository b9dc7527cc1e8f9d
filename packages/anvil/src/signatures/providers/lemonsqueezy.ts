import type { Provider } from "../provider.ts";

/** No id of an event: equal bodies count as one, and they hold the time of the last change. */
export const lemonsqueezy: Provider = {
  name: "lemonsqueezy",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "x-signature", encoding: "hex", layout: { kind: "single" } },
    message: "{body}",
  },
  type: [{ body: "meta.event_name" }],
  keepHeaders: ["x-event-name"],
  docs: "https://docs.lemonsqueezy.com/help/webhooks/signing-requests",
};
