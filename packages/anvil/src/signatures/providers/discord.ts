import type { Provider } from "../provider.ts";

/**
 * The secret is the application's public key. Discord sends false signatures on purpose and drops URLs that accept
 * them. No window is promised. An interaction has an id, a webhook event has none; interactions have numbers as types.
 */
export const discord: Provider = {
  name: "discord",
  scheme: {
    kind: "public-key",
    algorithm: "ed25519",
    key: "hex",
    signature: { header: "x-signature-ed25519", encoding: "hex", layout: { kind: "single" } },
    timestamp: { from: { header: "x-signature-timestamp" }, unit: "s", toleranceS: "none" },
    message: "{timestamp}{body}",
  },
  identity: [{ body: "id" }],
  type: [[{ body: "event.type" }], [{ body: "type", number: true }]],
  handshake: "discord",
  keepHeaders: ["x-signature-timestamp"],
  docs: "https://docs.discord.com/developers/interactions/overview#setting-up-an-endpoint",
};
