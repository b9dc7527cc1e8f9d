import type { Provider } from "../provider.ts";

/**
 * No signature: put a header X-Datadog-Custom-Secret into the webhook's settings. Put `"id":
 * "$ID-$ALERT_TRANSITION"` into its template for an identity.
 */
export const datadog: Provider = {
  name: "datadog",
  scheme: { kind: "token", from: { header: "x-datadog-custom-secret" } },
  keepHeaders: [],
  docs: "https://docs.datadoghq.com/integrations/webhooks/",
};
