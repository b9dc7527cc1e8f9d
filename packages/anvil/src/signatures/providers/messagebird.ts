import type { Provider } from "../provider.ts";

/**
 * A token that binds the public URL and the body. Its jti is new for each request, so each delivery counts as an
 * event, a retry too.
 */
export const messagebird: Provider = {
  name: "messagebird",
  scheme: {
    kind: "jwt",
    header: "messagebird-signature-jwt",
    algorithms: ["HS256", "HS384", "HS512"],
    key: "utf8",
    bodyHash: { claim: "payload_hash", encoding: "hex", absentWhenEmpty: true },
    urlHash: "url_hash",
    time: "exp",
    toleranceS: 5,
  },
  keepHeaders: [],
  docs: "https://developers.messagebird.com/api/#verifying-http-requests",
};
