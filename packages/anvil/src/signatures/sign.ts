import { headerLookup } from "./headers.ts";
import type { Provider } from "./provider.ts";
import type { Received } from "./received.ts";
import { engineOf, schemesOf } from "./schemes/index.ts";

/** What is to be sent. */
export type UnsignedRequest = {
  /** Default: POST. */
  readonly method?: string;
  /** The public URL of the receiver; some providers sign it. */
  readonly url?: string;
  /** Headers that the scheme signs or that identify the event, such as `webhook-id`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};

export type SignedRequest = {
  readonly url: string;
  /** Those that were given and the signature's, names in lower case. */
  readonly headers: Record<string, string>;
  /** As it was given, but where the provider puts its signature into the body. */
  readonly body: Uint8Array;
};

/**
 * Signs a request as the provider would: for test events, and for senders of your own.
 * @param options.nowMs the time of the signature, in milliseconds since 1970
 * @throws {TypeError} when the secret isn't in the provider's form, when a header or URL that it signs is missing, or
 *   when only the provider itself has the key: Discord, SendGrid, PayPal, SNS, Plaid
 */
export function signRequest(
  provider: Provider,
  request: UnsignedRequest,
  secret: string,
  options: { readonly nowMs: number },
): SignedRequest {
  const { method = "POST", url = "", body } = request;
  const headers = lowerCased(request.headers ?? {});
  const received: Received = { method: method.toUpperCase(), url, header: headerLookup(headers), body };
  const signing = schemesOf(provider).filter((scheme) => engineOf(scheme).sign);
  if (signing.length === 0) throw new TypeError(`Only ${provider.name} itself can sign: its key is secret`);
  for (const scheme of signing) {
    const engine = engineOf(scheme);
    const key = engine.readKey(scheme, secret);
    if (!key || !engine.sign) continue;
    const signed = engine.sign(scheme, received, key, options.nowMs);
    if (!signed.ok) {
      throw new TypeError(
        `${provider.name} signs a header or a part that is missing or malformed (${signed.reason})`,
      );
    }
    return { url: signed.url ?? url, headers: { ...headers, ...signed.headers }, body: signed.body ?? body };
  }
  throw new TypeError(`The secret isn't in the form that ${provider.name} uses`);
}

/**
 * Signs a body as the provider would, where the signature is in headers.
 * @param options.headers headers that the scheme signs or that identify the event, such as `webhook-id`
 * @returns those headers and the signature's, names in lower case
 * @throws {TypeError} as `signRequest`, and where the provider's signature changes the body or the URL
 */
export function signDelivery(
  provider: Provider,
  body: Uint8Array,
  secret: string,
  options: {
    readonly nowMs: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly url?: string;
  },
): Record<string, string> {
  const { nowMs, headers, url = "" } = options;
  const signed = signRequest(provider, { url, ...(headers ? { headers } : {}), body }, secret, { nowMs });
  if (signed.url !== url || !Buffer.from(signed.body).equals(body)) {
    throw new TypeError(`${provider.name} signs in the body or the URL; use signRequest`);
  }
  return signed.headers;
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
