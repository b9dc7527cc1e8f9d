import type { Provider } from "../provider.ts";

/** No signature: the secret is the clientState of the subscription, and must stand in every item. */
export const microsoftGraph: Provider = {
  name: "microsoft-graph",
  scheme: { kind: "token", from: { body: "value[].clientState" } },
  identity: [{ body: "value[].id" }],
  type: [{ body: "value[].changeType" }],
  handshake: "microsoft-graph",
  batch: { list: "value[]", identity: [{ body: "id" }], type: [{ body: "changeType" }] },
  keepHeaders: [],
  docs: "https://learn.microsoft.com/graph/change-notifications-delivery-webhooks",
};
