import type { Provider } from "../provider.ts";

/**
 * No signature: put a header X-Datadog-Custom-Secret into the webhook's settings. The body is a template of one's own,
 * and equal bodies count as one event: keep `$ID` and `$ALERT_TRANSITION` in it. `$ID` alone is shared by an alert and
 * its recovery.
 */
export const datadog: Provider = {
  name: "datadog",
  scheme: { kind: "token", from: { header: "x-datadog-custom-secret" } },
  type: [{ body: "event_type" }],
  keepHeaders: [],
  docs: "https://docs.datadoghq.com/integrations/webhooks/",
};
