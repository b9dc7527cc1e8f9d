import type { Provider } from "../provider.ts";

/**
 * The body has no id, and equal ones are legitimate (SYNC_UPDATES_AVAILABLE says no more than that): each delivery
 * counts as an event, a retry too, since its time is new. Plaid pretty-prints it, and the white space is hashed. The
 * secret is `client_id:secret` of the API, by which the key is fetched; a JWK as it is works too.
 */
export const plaid: Provider = {
  name: "plaid",
  scheme: {
    kind: "jwt",
    header: "plaid-verification",
    algorithms: ["ES256"],
    key: { fetch: "plaid" },
    bodyHash: { claim: "request_body_sha256", encoding: "hex" },
    time: "iat",
    toleranceS: 300,
  },
  type: [{ body: "webhook_type" }, { body: "webhook_code" }],
  keepHeaders: [],
  docs: "https://plaid.com/docs/api/webhooks/webhook-verification/",
};
