import type { Provider } from "../provider.ts";

/**
 * Account Activity. Ids are those of the objects inside: equal bodies count as one event. Its type is the name of what it
 * holds, `tweet_create_events` for one.
 */
export const x: Provider = {
  name: "x",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: {
      header: "x-twitter-webhooks-signature",
      encoding: "base64",
      layout: { kind: "single", prefix: "sha256=" },
    },
    message: "{body}",
  },
  type: [{ nameBeside: ["for_user_id", "user_has_blocked", "is_blocked_by", "users", "apps"] }],
  handshake: "x",
  keepHeaders: [],
  docs: "https://docs.x.com/x-api/webhooks/introduction",
};
