import type { Provider } from "../provider.ts";

/** A header for each key that is valid. retryCount in the body changes with each try. */
export const docusign: Provider = {
  name: "docusign",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: {
      header: "x-docusign-signature",
      numbered: true,
      encoding: "base64",
      layout: { kind: "single" },
    },
    message: "{body}",
  },
  identity: [{ body: "data.envelopeId" }, { body: "event" }, { body: "generatedDateTime" }],
  type: [{ body: "event" }],
  keepHeaders: [],
  docs: "https://developers.docusign.com/platform/webhooks/connect/hmac/",
};
