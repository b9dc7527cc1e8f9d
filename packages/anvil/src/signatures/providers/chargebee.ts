import type { Provider } from "../provider.ts";

/** HTTP Basic; the secret is `user:password`. */
export const chargebee: Provider = {
  name: "chargebee",
  scheme: { kind: "token", from: { header: "authorization" }, form: "basic" },
  identity: [{ body: "id" }],
  type: [{ body: "event_type" }],
  keepHeaders: [],
  docs: "https://www.chargebee.com/docs/2.0/webhook_settings.html",
};
