import type { Provider } from "../provider.ts";

/** A signature or, where that is configured, a plain token. No id: equal bodies count as one event. */
export const buildkite: Provider = {
  name: "buildkite",
  scheme: [
    {
      kind: "hmac",
      hash: "sha256",
      secret: "utf8",
      signature: {
        header: "x-buildkite-signature",
        encoding: "hex",
        layout: { kind: "pairs", separator: ",", key: "signature" },
      },
      timestamp: { from: { pair: "timestamp" }, unit: "s", toleranceS: 300 },
      message: "{timestamp}.{body}",
    },
    { kind: "token", from: { header: "x-buildkite-token" } },
  ],
  type: [{ header: "x-buildkite-event" }],
  keepHeaders: ["x-buildkite-event"],
  docs: "https://buildkite.com/docs/apis/webhooks/pipelines",
};
