import type { Provider, Scheme } from "../provider.ts";
import { templatesOf } from "./hmac.ts";
import { schemesOf } from "./index.ts";

/** Whether a scheme signs the URL, so that the public one must be known. */
export function signsUrl(scheme: Scheme): boolean {
  switch (scheme.kind) {
    case "hmac":
      return templatesOf(scheme).some((template) => /\{(?:unescaped-)?url\}/.test(template));
    case "public-key":
      return scheme.message.includes("{url}");
    case "jwt":
      return scheme.urlHash !== undefined;
    default:
      return scheme.kind === "twilio" || scheme.kind === "contentful";
  }
}

/** What a provider's secret has to be, as in "is not …". */
export function secretForm(provider: Pick<Provider, "scheme">): string {
  return [...new Set(schemesOf(provider).map(formOf))].join(", nor ");
}

function formOf(scheme: Scheme): string {
  switch (scheme.kind) {
    case "hmac":
      return {
        utf8: "a text",
        whsec: "base64 behind whsec_",
        "whsec-only": "base64 behind whsec_",
        "whsec-or-text": "a text, or base64 behind whsec_",
        hex: "hex",
      }[scheme.secret];
    case "public-key":
      return {
        hex: "a public key in 64 digits of hex",
        whpk: "a public key in base64 behind whpk_",
        spki: "a public key in base64",
      }[scheme.key];
    case "token":
      return scheme.form === "basic" ? "user:password" : "a plain token";
    case "adyen":
      return "hex";
    case "braintree":
      return "the public and the private key with | between them";
    case "contentful":
      return "the signing secret of 64 characters";
    case "paypal":
      return "a webhook id, of letters, digits and dashes";
    default:
      return "a text";
  }
}
