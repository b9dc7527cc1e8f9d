import type { Scheme, SignatureHeader, Timestamp } from "../provider.ts";
import { CONTENTFUL } from "./contentful.ts";
import { hashesOf, templatesOf } from "./hmac.ts";
import { SNS_TIMESTAMP } from "./sns.ts";

/** What a scheme wants of a delivery, in words: for whoever has to find out why one is refused. */
export type SchemeDescription = {
  /** Where the signature stands. */
  readonly place: string;
  /** How it is written. */
  readonly form: string;
  /** What it is computed over, and how. */
  readonly signed: string;
};

export function describeScheme(scheme: Scheme): SchemeDescription {
  switch (scheme.kind) {
    case "hmac": {
      const hashes = hashesOf(scheme).map(
        (hash) => (scheme.construction === "plain" ? "" : "HMAC-") + SHA[hash],
      );
      return {
        ...("field" in scheme.signature
          ? { place: `field ${scheme.signature.field} of the JSON body`, form: scheme.signature.encoding }
          : describeHeader(scheme.signature)),
        signed: `${hashes.join(" or ")} over ${templatesOf(scheme).join(" or ")}`,
      };
    }
    case "public-key": {
      const algorithm = scheme.algorithm === "ed25519" ? "Ed25519" : "ECDSA P-256 with SHA-256";
      return { ...describeHeader(scheme.signature), signed: `${algorithm} over ${scheme.message}` };
    }
    case "token": {
      const place =
        "header" in scheme.from ? `header ${scheme.from.header}` : `${scheme.from.body} in the JSON body`;
      const form =
        scheme.form === "basic" ? "Basic and base64 of user:password" : `${scheme.prefix ?? ""}<the secret>`;
      return { place, form, signed: "nothing: the secret itself comes along" };
    }
    case "jwt":
      return {
        place: `header ${scheme.header}`,
        form: `a JSON Web Token (${scheme.algorithms.join(", ")})`,
        signed: `its claims; ${scheme.bodyHash.claim} is the ${scheme.bodyHash.encoding} SHA-256 of the body`,
      };
    default:
      return OWN[scheme.kind];
  }
}

const SHA = { sha256: "SHA-256", sha1: "SHA-1", sha512: "SHA-512" } as const;

function describeHeader({
  header,
  numbered,
  encoding,
  layout,
}: SignatureHeader): Omit<SchemeDescription, "signed"> {
  const place = numbered ? `header ${header}-1 (-2, …)` : `header ${header}`;
  if (layout.kind === "versions") return { place, form: `${layout.version},<${encoding}>` };
  if (layout.kind === "pairs")
    return { place, form: `name=value${layout.separator}…, with ${layout.key}=<${encoding}>` };
  const prefix = layout.prefix ?? "";
  return {
    place,
    form: layout.prefixOptional ? `${prefix}<${encoding}>, or <${encoding}> alone` : `${prefix}<${encoding}>`,
  };
}

const OWN: Readonly<
  Record<Exclude<Scheme["kind"], "hmac" | "public-key" | "token" | "jwt">, SchemeDescription>
> = {
  twilio: {
    place: "header x-twilio-signature",
    form: "base64",
    signed:
      "HMAC-SHA1 over the URL and the form's sorted fields; for another body the URL holds its bodySHA256",
  },
  adyen: {
    place: "additionalData.hmacSignature of each item, or header hmacsignature",
    form: "base64",
    signed: "HMAC-SHA256 over eight fields of each item; with the header, over the body",
  },
  contentful: {
    place: `header ${CONTENTFUL.signature.header}`,
    form: "hex",
    signed: "HMAC-SHA256 over method, path with query, the signed headers and the body",
  },
  braintree: {
    place: "form fields bt_signature and bt_payload",
    form: "public key|hex, pairs joined by &",
    signed: "HMAC-SHA1 over bt_payload, keyed with the SHA-1 of the private key",
  },
  paypal: {
    place: "headers paypal-transmission-sig, -id, -time and paypal-cert-url",
    form: "base64, paypal-auth-algo SHA256withRSA",
    signed: "RSA over id|time|webhook id|CRC-32 of the body",
  },
  sns: {
    place: "Signature in the JSON body",
    form: "base64, with SignatureVersion 1 or 2 and a known Type",
    signed: "RSA over most fields of the message",
  },
};

/** The time that a scheme signs, where there is a rule for it; a token's is in its claims. */
export function timestampOf(scheme: Scheme): Timestamp | undefined {
  if (scheme.kind === "hmac" || scheme.kind === "public-key") return scheme.timestamp;
  if (scheme.kind === "contentful") return CONTENTFUL.timestamp;
  return scheme.kind === "sns" ? SNS_TIMESTAMP : undefined;
}
