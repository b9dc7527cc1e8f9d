import type { Provider } from "../provider.ts";

/** No signature: the value that was configured comes in Authorization. A batch, each event with its uuid. */
export const okta: Provider = {
  name: "okta",
  scheme: { kind: "token", from: { header: "authorization" } },
  identity: [{ body: "data.events[].uuid" }],
  type: [{ body: "data.events[].eventType" }],
  handshake: "okta",
  batch: { list: "data.events[]", identity: [{ body: "uuid" }], type: [{ body: "eventType" }] },
  keepHeaders: [],
  docs: "https://developer.okta.com/docs/concepts/event-hooks/",
};
