import type { Provider } from "../provider.ts";

/** A hub of WebSub (W3C), with the secret of the subscription. Equal content counts as one event. */
export const websub: Provider = {
  name: "websub",
  scheme: {
    kind: "hmac",
    hash: "sha256",
    secret: "utf8",
    signature: { header: "x-hub-signature", encoding: "hex", layout: { kind: "single", prefix: "sha256=" } },
    message: "{body}",
  },
  handshake: "websub",
  keepHeaders: ["link"],
  docs: "https://www.w3.org/TR/websub/#authenticated-content-distribution",
};
