import { defineConfig, env } from "webhook-anvil/config";

/** Takes the place of the checkout's own in what the tests deploy: a source for each of the senders' SDKs, and encryption. */
export default defineConfig({
  sources: {
    default: { provider: "hmac", secret: env("WEBHOOK_SECRET") },
    stripe: { provider: "stripe", secret: env("STRIPE_SECRET") },
    github: { provider: "github", secret: env("GITHUB_SECRET") },
    partner: { provider: "standard-webhooks", secret: env("PARTNER_SECRET") },
  },
  // The older key is never set: a deployment has to do without.
  encryption: { key: env("ANVIL_ENCRYPTION_KEY"), previousKeys: [env("ANVIL_ENCRYPTION_KEY_PREVIOUS")] },
});
