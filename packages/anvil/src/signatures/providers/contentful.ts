import type { Provider } from "../provider.ts";

/**
 * Signs the method, the public path and some of the headers too; 30 s. No id, and bodies can be cut down until all are
 * equal: each delivery counts as an event, a retry too, since its time is new.
 */
export const contentful: Provider = {
  name: "contentful",
  scheme: { kind: "contentful" },
  type: [{ header: "x-contentful-topic" }],
  keepHeaders: ["x-contentful-topic", "x-contentful-webhook-name"],
  docs: "https://www.contentful.com/developers/docs/webhooks/request-verification/",
};
