import type { Provider } from "../provider.ts";

/** Log streams. No signature: the value that was configured comes in Authorization. */
export const auth0: Provider = {
  name: "auth0",
  scheme: { kind: "token", from: { header: "authorization" } },
  identity: [{ body: "[].log_id" }],
  type: [{ body: "[].data.type" }],
  batch: { list: "[]", identity: [{ body: "log_id" }], type: [{ body: "data.type" }] },
  keepHeaders: [],
  docs: "https://auth0.com/docs/customize/log-streams/custom-log-streams",
};
