import type { Provider } from "../provider.ts";

/**
 * A batch. Its body changes when it comes again (attemptNumber), so the items' own ids count. Its documents sign the
 * URL with twelve escapes undone, its SDK signs it as it is: both are tried. Versions 1 and 2 are plain hashes, for
 * older subscriptions: no time is signed, and what was captured is recognised by its ids alone.
 */
export const hubspot: Provider = {
  name: "hubspot",
  scheme: [
    {
      kind: "hmac",
      hash: "sha256",
      secret: "utf8",
      signature: { header: "x-hubspot-signature-v3", encoding: "base64", layout: { kind: "single" } },
      timestamp: { from: { header: "x-hubspot-request-timestamp" }, unit: "ms", toleranceS: 300 },
      message: ["{method}{url}{body}{timestamp}", "{method}{unescaped-url}{body}{timestamp}"],
    },
    {
      kind: "hmac",
      hash: "sha256",
      construction: "plain",
      secret: "utf8",
      signature: { header: "x-hubspot-signature", encoding: "hex", layout: { kind: "single" } },
      message: ["{secret}{body}", "{secret}{method}{url}{body}"],
    },
  ],
  identity: [
    { body: "[].subscriptionId", number: true },
    { body: "[].eventId", number: true },
    { body: "[].occurredAt", number: true },
  ],
  type: [{ body: "[].subscriptionType" }],
  batch: {
    list: "[]",
    identity: [
      { body: "subscriptionId", number: true },
      { body: "eventId", number: true },
      { body: "occurredAt", number: true },
    ],
    type: [{ body: "subscriptionType" }],
  },
  keepHeaders: ["x-hubspot-request-timestamp"],
  docs: "https://developers.hubspot.com/docs/apps/legacy-apps/authentication/validating-requests",
};
