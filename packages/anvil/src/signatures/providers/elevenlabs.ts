import type { Provider } from "../provider.ts";

/** The version is v0; 30 minutes. */
export const elevenlabs: Provider = {
  name: "elevenlabs",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: {
      header: "elevenlabs-signature",
      encoding: "hex",
      layout: { kind: "pairs", separator: ",", key: "v0" },
    },
    timestamp: { from: { pair: "t" }, unit: "s", toleranceS: 1800 },
    message: "{timestamp}.{body}",
  },
  type: [{ body: "type" }],
  keepHeaders: [],
  docs: "https://elevenlabs.io/docs/agents-platform/workflows/post-call-webhooks",
};
