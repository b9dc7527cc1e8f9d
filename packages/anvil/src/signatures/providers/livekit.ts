import type { Provider } from "../provider.ts";

export const livekit: Provider = {
  name: "livekit",
  scheme: {
    kind: "jwt",
    header: "authorization",
    prefix: "Bearer ",
    algorithms: ["HS256"],
    key: "utf8",
    bodyHash: { claim: "sha256", encoding: "base64" },
    time: "exp",
    toleranceS: 5,
  },
  identity: [{ body: "id" }],
  type: [{ body: "event" }],
  keepHeaders: [],
  docs: "https://docs.livekit.io/home/server/webhooks/",
};
