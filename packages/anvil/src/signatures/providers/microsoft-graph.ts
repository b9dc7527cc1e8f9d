import type { Provider } from "../provider.ts";

/**
 * No signature: the secret is the clientState of the subscription, and must stand in every item. Not every notification
 * has an id or an etag; those without (of drives, for one) are signals, and equal ones are two events.
 */
export const microsoftGraph: Provider = {
  name: "microsoft-graph",
  scheme: { kind: "token", from: { body: "value[].clientState" } },
  identity: [
    [{ body: "value[].id" }],
    [
      { body: "value[].subscriptionId" },
      { body: "value[].resource" },
      { body: "value[].changeType" },
      { body: "value[].resourceData.@odata\\.etag" },
    ],
    "each-delivery",
  ],
  type: [[{ body: "value[].changeType" }], [{ body: "value[].lifecycleEvent" }]],
  handshake: "microsoft-graph",
  batch: {
    list: "value[]",
    identity: [
      [{ body: "id" }],
      [
        { body: "subscriptionId" },
        { body: "resource" },
        { body: "changeType" },
        { body: "resourceData.@odata\\.etag" },
      ],
    ],
    type: [[{ body: "changeType" }], [{ body: "lifecycleEvent" }]],
  },
  keepHeaders: [],
  docs: "https://learn.microsoft.com/graph/change-notifications-delivery-webhooks",
};
