import type { SecretForm } from "./provider.ts";

/** In characters as configured, and in bytes of the key: a shorter one can be guessed. */
export const MIN_SECRET_LENGTH = 6;

/**
 * What is wrong with a secret whatever the provider, or nothing. A secret that can't be right is refused at
 * start: otherwise it shows as a storm of 401s, or as an endpoint that anyone can sign for.
 */
export function secretProblem(secret: string): string | undefined {
  if (secret.trim() === "") return "is empty";
  if (secret !== secret.trim())
    return "has white space around it (a trailing newline from a file or a paste?)";
  if (/^(["'`]).*\1$/.test(secret)) return "is in quotes; set the value without them";
  if (/^(undefined|null|NaN|\[object Object\])$/.test(secret)) return "is the text of a missing value";
  if (/^https?:\/\//i.test(secret)) return "is a URL; the signing secret is wanted";
  if (/^v\d+[a-z]?,/.test(secret)) return "starts with a signature's version; paste the secret alone";
  if (secret.length < MIN_SECRET_LENGTH) return `is shorter than ${MIN_SECRET_LENGTH} characters`;
  return undefined;
}

/** What looks right and is another of the provider's secrets, the one that people have at hand. */
export function otherSecretProblem(secret: string): string | undefined {
  return /^[spr]k_(live|test)_/.test(secret)
    ? "is an API key; the endpoint's signing secret is wanted"
    : undefined;
}

/**
 * The HMAC key of a configured secret.
 * @returns undefined when the text isn't in the scheme's form
 */
export function secretKey(secret: string, form: SecretForm): Uint8Array | undefined {
  // An asymmetric key of Standard Webhooks: the public one is no secret, and would be one of an HMAC.
  if (secret === "" || /^wh[ps]k_/.test(secret)) return undefined;
  if (form === "utf8") return Buffer.from(secret, "utf8");
  if (form === "hex") return /^(?:[0-9a-f]{2})+$/i.test(secret) ? Buffer.from(secret, "hex") : undefined;
  const prefixed = secret.startsWith("whsec_");
  if (form === "whsec-only" && !prefixed) return undefined;
  if (form === "whsec-or-text" && !prefixed) return Buffer.from(secret, "utf8");
  return base64Key(prefixed ? secret.slice("whsec_".length) : secret);
}

/** Base64 with or without its padding; undefined for anything else, of which Node would take a part. */
export function base64Key(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64");
  const unpadded = (value: string) => value.replace(/=+$/, "");
  return bytes.length > 0 && unpadded(bytes.toString("base64")) === unpadded(text) ? bytes : undefined;
}
