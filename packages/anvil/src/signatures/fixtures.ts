import { eventKey, signatureBodyIdentity } from "../contract/event-key.ts";
import { type HeaderSource, headerLookup } from "./headers.ts";
import type { HmacScheme, Provider, SignatureHeader } from "./provider.ts";
import { github } from "./providers/github.ts";
import { hmac } from "./providers/hmac.ts";
import { standardWebhooks } from "./providers/standard-webhooks.ts";
import { stripe } from "./providers/stripe.ts";
import { type KeyedScheme, keyedSchemes, schemesOf } from "./schemes/index.ts";
import { signDelivery } from "./sign.ts";
import type { Refusal } from "./verdict.ts";
import { type Verified, verifyReceived } from "./verify.ts";

export const NOW_S = 1_760_000_000;

/** Somebody who signs deliveries for a provider, with made-up secrets, and the receiver who knows them. */
export type Sender = {
  readonly provider: Provider;
  readonly secret: string;
  sign(
    body: Uint8Array,
    options?: { nowS?: number; headers?: Record<string, string> },
  ): Record<string, string>;
  verify(headers: HeaderSource, body: Uint8Array, options?: { nowS?: number }): Verified | Refusal;
};

export function sender(
  provider: Provider,
  secret: string,
  headers: Record<string, string> = {},
  secrets: readonly string[] = [secret],
): Sender {
  const schemes = keyedSchemes(provider, secrets);
  if (schemes.length === 0)
    throw new Error(`${provider.name}: the made-up secret isn't in the provider's form`);
  return {
    provider,
    secret,
    sign: (body, options = {}) =>
      signDelivery(provider, body, secret, {
        nowMs: (options.nowS ?? NOW_S) * 1000,
        headers: { ...headers, ...options.headers },
      }),
    verify: (received, body, options = {}) =>
      verdict(provider, schemes, { headers: received, body }, (options.nowS ?? NOW_S) * 1000),
  };
}

type HeadersAndBody = { readonly headers: HeaderSource; readonly body: Uint8Array };

function verdict(
  provider: Provider,
  schemes: readonly KeyedScheme[],
  { headers, body }: HeadersAndBody,
  nowMs: number,
): Verified | Refusal {
  const received = { method: "POST", url: "", header: headerLookup(headers), body };
  const result = verifyReceived(provider, schemes, received, { nowMs });
  if (result instanceof Promise) throw new Error(`${provider.name} fetches keys; await its verdict`);
  return result;
}

/** A verdict by the provider's first scheme and keys as they are. */
export function verifyDelivery(
  provider: Provider,
  delivery: HeadersAndBody,
  keys: readonly Uint8Array[],
  nowMs: number,
): Verified | Refusal {
  return verdict(provider, [{ scheme: hmacOf(provider), keys }], delivery, nowMs);
}

/** The row's HMAC, where that is its first scheme. */
export function hmacOf(provider: Provider): HmacScheme & { readonly signature: SignatureHeader } {
  const [scheme] = schemesOf(provider);
  if (scheme?.kind !== "hmac" || !("header" in scheme.signature)) {
    throw new Error(`${provider.name} has no HMAC in a header`);
  }
  return scheme as HmacScheme & { readonly signature: SignatureHeader };
}

export const hmacSender: Sender = sender(hmac, "made-up-secret-of-hmac");
export const stripeSender: Sender = sender(stripe, "whsec_made_up_for_stripe");
export const githubSender: Sender = sender(github, "made-up-secret-of-github", {
  "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
  "x-github-event": "push",
});
export const standardWebhooksSender: Sender = sender(
  standardWebhooks,
  `whsec_${Buffer.from("made-up-key-of-standard-webhooks").toString("base64")}`,
  { "webhook-id": "msg_made_up_1" },
);

export const senders: readonly Sender[] = [hmacSender, stripeSender, githubSender, standardWebhooksSender];

/** The key under which the ingress dedupes a verified delivery. */
export function keyOf(verified: Verified | Refusal, body: Uint8Array, source = "default"): string {
  if (!verified.ok) throw new Error(`refused: ${verified.reason}`);
  return eventKey(
    source,
    verified.eventId === undefined
      ? signatureBodyIdentity(verified.signature, body)
      : { kind: "provider", value: verified.eventId },
  );
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
