import type { Provider } from "../provider.ts";

/** Milliseconds. No id of an event: kind, subject and time together. */
export const webflow: Provider = {
  name: "webflow",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "x-webflow-signature", encoding: "hex", layout: { kind: "single" } },
    timestamp: { from: { header: "x-webflow-timestamp" }, unit: "ms", toleranceS: 300 },
    message: "{timestamp}:{body}",
  },
  identity: [
    [{ body: "triggerType" }, { body: "payload.id" }, { body: "payload.submittedAt" }],
    [{ body: "triggerType" }, { body: "payload.id" }, { body: "payload.lastUpdated" }],
    [{ body: "triggerType" }, { body: "payload.siteId" }, { body: "payload.publishedOn" }],
  ],
  type: [{ body: "triggerType" }],
  keepHeaders: ["x-webflow-timestamp"],
  docs: "https://developers.webflow.com/data/docs/working-with-webhooks",
};
