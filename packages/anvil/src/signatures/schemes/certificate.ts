import { type KeyObject, X509Certificate } from "node:crypto";
import type { Moment } from "./engine.ts";

/**
 * The public key of the certificate under a URL that its provider named; undefined when the URL isn't one of the
 * provider's, or the certificate has expired.
 * @param hosts exact names, or a pattern for the whole name
 * @throws {KeyUnavailable} when it can't be fetched
 */
export async function certificateKey(
  url: string,
  hosts: RegExp,
  { fetchKey, nowMs }: Moment,
): Promise<KeyObject | undefined> {
  if (!isAllowed(url, hosts) || !fetchKey) return undefined;
  const pem = await fetchKey({ kind: "certificate", url });
  try {
    const certificate = new X509Certificate(pem);
    const expired = nowMs > Date.parse(certificate.validTo);
    return !expired && certificate.publicKey.asymmetricKeyType === "rsa" ? certificate.publicKey : undefined;
  } catch {
    return undefined;
  }
}

/** https, one of the hosts, and nothing that could make it mean another: no user, no port, no backslash. */
function isAllowed(text: string, hosts: RegExp): boolean {
  if (text.length > 500 || !/^https:\/\/[\w.-]+\/[\w./-]+$/.test(text) || text.includes("..")) return false;
  return hosts.test(new URL(text).hostname);
}
