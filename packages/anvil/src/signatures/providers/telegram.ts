import type { Provider } from "../provider.ts";

/** No signature: the secret_token of setWebhook. */
export const telegram: Provider = {
  name: "telegram",
  scheme: { kind: "token", from: { header: "x-telegram-bot-api-secret-token" } },
  identity: [{ body: "update_id", number: true }],
  keepHeaders: [],
  docs: "https://core.telegram.org/bots/api#setwebhook",
};
