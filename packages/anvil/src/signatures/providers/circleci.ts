import type { Provider } from "../provider.ts";

export const circleci: Provider = {
  name: "circleci",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: {
      header: "circleci-signature",
      encoding: "hex",
      layout: { kind: "pairs", separator: ",", key: "v1" },
    },
    message: "{body}",
  },
  identity: [{ body: "id" }],
  type: [{ body: "type" }],
  keepHeaders: ["circleci-event-type"],
  docs: "https://circleci.com/docs/guides/integration/webhooks/",
};
