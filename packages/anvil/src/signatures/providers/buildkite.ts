import type { Provider } from "../provider.ts";

/**
 * A signature or, where that is configured, a plain token. No id. With a signature each delivery counts as an event, a
 * retry too, since its time is new; with a token equal bodies count as one.
 */
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
