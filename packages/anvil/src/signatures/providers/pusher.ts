import type { Provider } from "../provider.ts";

/** No id: equal bodies count as one event, and they hold the time. */
export const pusher: Provider = {
  name: "pusher",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "x-pusher-signature", encoding: "hex", layout: { kind: "single" } },
    message: "{body}",
  },
  type: [{ body: "events[].name" }],
  batch: { list: "events[]", type: [{ body: "name" }] },
  keepHeaders: ["x-pusher-key"],
  docs: "https://pusher.com/docs/channels/server_api/webhooks/",
};
