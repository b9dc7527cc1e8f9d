import type { Provider, Scheme } from "../provider.ts";
import type { Head, Key } from "../received.ts";
import { adyenEngine } from "./adyen.ts";
import { braintreeEngine } from "./braintree.ts";
import { contentfulEngine } from "./contentful.ts";
import type { SchemeEngine } from "./engine.ts";
import { hmacEngine } from "./hmac.ts";
import { jwtEngine } from "./jwt.ts";
import { paypalEngine } from "./paypal.ts";
import { publicKeyEngine } from "./public-key.ts";
import { hasSignature } from "./signature-header.ts";
import { snsEngine } from "./sns.ts";
import { tokenEngine } from "./token.ts";
import { twilioEngine } from "./twilio.ts";

const engines: { readonly [Kind in Scheme["kind"]]: SchemeEngine<never> } = {
  hmac: hmacEngine,
  "public-key": publicKeyEngine,
  token: tokenEngine,
  jwt: jwtEngine,
  twilio: twilioEngine,
  adyen: adyenEngine,
  contentful: contentfulEngine,
  braintree: braintreeEngine,
  paypal: paypalEngine,
  sns: snsEngine,
};

export function engineOf(scheme: Scheme): SchemeEngine<Scheme> {
  return engines[scheme.kind] as SchemeEngine<Scheme>;
}

export function schemesOf({ scheme }: Pick<Provider, "scheme">): readonly Scheme[] {
  return Array.isArray(scheme) ? (scheme as readonly Scheme[]) : [scheme as Scheme];
}

/** A scheme of a provider, with every key that a source has for it. */
export type KeyedScheme = { readonly scheme: Scheme; readonly keys: readonly Key[] };

/** The schemes of a provider for which there is a key among the secrets, in the provider's order. */
export function keyedSchemes(provider: Pick<Provider, "scheme">, secrets: readonly string[]): KeyedScheme[] {
  return schemesOf(provider)
    .map((scheme) => ({
      scheme,
      keys: secrets
        // Who has no types passes an unset variable on.
        .filter((secret) => typeof secret === "string")
        .map((secret) => engineOf(scheme).readKey(scheme, secret))
        .filter((key) => key !== undefined),
    }))
    .filter(({ keys }) => keys.length > 0);
}

/**
 * The scheme by which a delivery is to be judged: the first for which it has a signature, else the first. One that
 * has the better signature is judged by it, whatever else it brings.
 */
export function schemeFor(schemes: readonly KeyedScheme[], head: Head): KeyedScheme | undefined {
  return schemes.find(({ scheme }) => claims(scheme, head)) ?? schemes[0];
}

function claims(scheme: Scheme, { header }: Head): boolean {
  switch (scheme.kind) {
    case "hmac":
      return "field" in scheme.signature || hasSignature(scheme.signature, header);
    case "public-key":
      return hasSignature(scheme.signature, header);
    case "token":
      return "body" in scheme.from || Boolean(header(scheme.from.header));
    case "jwt":
      return Boolean(header(scheme.header));
    default:
      return true;
  }
}
