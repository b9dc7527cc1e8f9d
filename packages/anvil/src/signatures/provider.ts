/**
 * A provider is data: how it signs, what identifies an event, where its type stands. A row that fits one of
 * the schemes needs no code.
 */
export type Provider = {
  /** As written in a source's `provider`. */
  readonly name: string;
  readonly scheme: HmacScheme;
  /**
   * The fields that together are the event's identity: kept by the provider when it delivers again, from
   * signed content where there is some. Without it, or where a field is missing or empty, the identity is
   * sha256(signature + payload).
   */
  readonly identity?: readonly Field[];
  /** The event's type: its parts are joined with a dot; all but the first may be missing. */
  readonly type?: readonly Field[];
  /** Headers worth keeping with the event, beside content-type. Lower case. Never credentials. */
  readonly keepHeaders: readonly string[];
  /** What is wrong with a secret for this provider, or nothing. Never repeats the secret. */
  readonly secretProblem?: (secret: string) => string | undefined;
  /** The page that documents the scheme. */
  readonly docs: string;
};

/** A value of a delivery: a header, or a string in the JSON body under a dotted path. */
export type Field = { readonly header: string } | { readonly body: string };

export type HmacScheme = {
  readonly kind: "hmac";
  readonly hash: "sha256" | "sha1" | "sha512";
  /** How the configured secret becomes the key. `whsec` is base64 behind an optional `whsec_`. */
  readonly secret: "utf8" | "whsec";
  readonly signature: SignatureHeader;
  readonly timestamp?: Timestamp;
  /**
   * What is signed: text with `{body}`, `{timestamp}` and `{header:<name>}` in it. The body's bytes go in as
   * they came.
   */
  readonly message: string;
};

export type SignatureHeader = {
  /** Lower case. */
  readonly header: string;
  readonly encoding: "hex" | "base64";
  readonly layout: SignatureLayout;
};

export type SignatureLayout =
  /** One signature, behind a prefix such as `sha256=` (in any case). */
  | { readonly kind: "single"; readonly prefix?: string; readonly prefixOptional?: true }
  /** `t=…,v1=…,v1=…`: the signatures are those under `key`; other keys are ignored. */
  | { readonly kind: "pairs"; readonly separator: "," | ";"; readonly key: string }
  /** `v1,… v1,…`: entries apart by a space, the signatures are those of `version`. */
  | { readonly kind: "versions"; readonly version: string };

export type Timestamp = {
  /** A pair of the signature header, or a header of its own. */
  readonly from: { readonly pair: string } | { readonly header: string };
  readonly unit: "s" | "ms";
  /** How far the sender's clock may be from ours, in seconds, in both directions; the edge is accepted. */
  readonly toleranceS: number;
};
