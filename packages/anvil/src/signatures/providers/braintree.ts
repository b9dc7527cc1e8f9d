import type { Provider } from "../provider.ts";

/** A form with a signed payload in XML; the secret is `public|private`. No id: equal payloads count as one event. */
export const braintree: Provider = {
  name: "braintree",
  scheme: { kind: "braintree" },
  handshake: "braintree",
  keepHeaders: [],
  docs: "https://developer.paypal.com/braintree/docs/guides/webhooks/parse",
};
