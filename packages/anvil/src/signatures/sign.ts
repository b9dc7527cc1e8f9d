import { hmacDigest } from "./hmac.ts";
import type { Provider } from "./provider.ts";
import { secretKey } from "./secret-key.ts";
import { encodeSignature } from "./signature-encoding.ts";

/**
 * Signs a body as the provider would: for test events, and for senders of your own.
 * @param options.nowMs the time of the signature, in milliseconds since 1970
 * @param options.headers headers that the scheme signs or that identify the event, such as `webhook-id`
 * @returns those headers and the signature's, names in lower case
 * @throws {TypeError} when the secret isn't in the provider's form, or a header that it signs is missing
 */
export function signDelivery(
  provider: Provider,
  body: Uint8Array,
  secret: string,
  options: { readonly nowMs: number; readonly headers?: Readonly<Record<string, string>> },
): Record<string, string> {
  const { scheme } = provider;
  const headers: Record<string, string> = { ...options.headers };
  const timestamp =
    scheme.timestamp && String(Math.floor(options.nowMs / (scheme.timestamp.unit === "s" ? 1000 : 1)));
  if (timestamp !== undefined && scheme.timestamp && "header" in scheme.timestamp.from) {
    headers[scheme.timestamp.from.header] = timestamp;
  }
  const key = secretKey(secret, scheme.secret);
  if (!key) throw new TypeError(`The secret isn't in the form that ${provider.name} uses`);
  const result = hmacDigest(scheme, key, { body, timestamp, header: (name) => headers[name] });
  if (!result.ok)
    throw new TypeError(`${provider.name} signs a header that is missing or malformed (${result.reason})`);

  const text = encodeSignature(result.digest, scheme.signature.encoding);
  const { layout } = scheme.signature;
  if (layout.kind === "single") headers[scheme.signature.header] = `${layout.prefix ?? ""}${text}`;
  else if (layout.kind === "versions") headers[scheme.signature.header] = `${layout.version},${text}`;
  else {
    const pair = scheme.timestamp && "pair" in scheme.timestamp.from ? scheme.timestamp.from.pair : undefined;
    headers[scheme.signature.header] = [
      ...(pair ? [`${pair}=${timestamp}`] : []),
      `${layout.key}=${text}`,
    ].join(layout.separator);
  }
  return headers;
}
