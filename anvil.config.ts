import { defineConfig, env } from "webhook-anvil/config";

/**
 * The sources, in one place, read by functions and workers alike. Each is a place that sends webhooks:
 * `default` to POST /webhooks, any other to POST /webhooks/<its name>. docs/add-a-source.md has the rest.
 */
export default defineConfig({
  sources: {
    default: {
      provider: "hmac",
      secret: env("WEBHOOK_SECRET"),
      // While a secret is being rotated both are valid; leave it unset otherwise.
      previousSecret: env("WEBHOOK_SECRET_PREVIOUS"),
    },
  },
});
