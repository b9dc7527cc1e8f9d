import type { Provider } from "../provider.ts";

/** No signature: the secret_token of setWebhook. An update's type is the name of what it holds, `message` for one. */
export const telegram: Provider = {
  name: "telegram",
  scheme: { kind: "token", from: { header: "x-telegram-bot-api-secret-token" } },
  identity: [{ body: "update_id", number: true }],
  type: [{ nameBeside: ["update_id"] }],
  keepHeaders: [],
  docs: "https://core.telegram.org/bots/api#setwebhook",
};
