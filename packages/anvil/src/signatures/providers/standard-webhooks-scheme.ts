import type { HmacScheme, PublicKeyScheme, SecretForm } from "../provider.ts";

/** What the names of the headers begin with: `webhook-id`, or `svix-id` as they first were. */
type Prefix = "webhook" | "svix";

/** What every sender of Standard Webhooks has in common; they differ in the form of their secrets. */
function common(
  prefix: Prefix,
  version: "v1" | "v1a",
): Pick<HmacScheme, "timestamp"> & {
  readonly signature: PublicKeyScheme["signature"];
  readonly message: string;
} {
  return {
    signature: { header: `${prefix}-signature`, encoding: "base64", layout: { kind: "versions", version } },
    timestamp: { from: { header: `${prefix}-timestamp` }, unit: "s", toleranceS: 300 },
    message: `{header:${prefix}-id}.{timestamp}.{body}`,
  };
}

/** v1: an HMAC under a secret that both know. */
export function standardWebhooksHmac(prefix: Prefix, secret: SecretForm): HmacScheme {
  return { kind: "hmac", hash: "sha256", secret, ...common(prefix, "v1") };
}

/** v1a: signed with a key of the sender's own; the secret is its public one, `whpk_…`. */
export function standardWebhooksEd25519(prefix: Prefix): PublicKeyScheme {
  return { kind: "public-key", algorithm: "ed25519", key: "whpk", ...common(prefix, "v1a") };
}
