import type { HandshakeName } from "./handshakes/index.ts";

/** What a provider signs and how it names its events: a row of data. */
export type Provider = {
  /** As in a source's `provider`. */
  readonly name: string;
  /**
   * How its deliveries are proven. Several where it has changed over time: the first one counts for which the
   * delivery has a signature and the source a secret.
   */
  readonly scheme: Scheme | readonly Scheme[];
  /**
   * The fields that together are the event's identity: kept by the provider when it delivers again, from
   * signed content where there is some. Without it, or where a field is missing or empty, the identity is
   * sha256(signature + payload).
   *
   * `each-delivery`: no delivery is ever a repetition of another. For providers whose deliveries are signals without
   * content, where equal bodies are two events. As the last of several it is for what has none of the fields.
   */
  readonly identity?: Fields | "each-delivery" | readonly (readonly Field[] | "each-delivery")[];
  /** The event's type: its parts are joined with a dot; all but the first may be missing. */
  readonly type?: Fields;
  /**
   * A text in the JSON body that the provider makes anew for each delivery. Where the event itself isn't signed:
   * another event that comes with the same text is refused, for `forS` seconds, twice the window of the timestamp.
   */
  readonly once?: { readonly body: string; readonly forS: number };
  /** How it makes sure that an endpoint is wanted; answered on its sources only. */
  readonly handshake?: HandshakeName;
  /** Where its deliveries are lists of events, which a source can have split. */
  readonly batch?: Batch;
  /** What it wants to read in the answer to a delivery, where that isn't any 2xx. */
  readonly acceptedText?: string;
  /** Headers worth keeping with the event, beside content-type. Lower case. Never credentials. */
  readonly keepHeaders: readonly string[];
  /** What is wrong with a secret for this provider, or nothing. Never repeats the secret. */
  readonly secretProblem?: (secret: string) => string | undefined;
  /** The page that documents the scheme. */
  readonly docs: string;
};

/** A list of events in one delivery. */
export type Batch = {
  /** The list in the JSON body: `[]`, `data.events[]`. */
  readonly list: string;
  /** As the provider's, with paths that begin at the item. Without it the item's bytes are its identity. */
  readonly identity?: Fields;
  readonly type?: Fields;
};

/**
 * A list of fields, or several such lists, for a provider that has more than one kind of delivery: the first one counts
 * of which the delivery has every field (of a type: the first field).
 */
export type Fields = readonly Field[] | readonly (readonly Field[])[];

/**
 * A value of a delivery: a header; a value in the JSON body under a dotted path, where `[]` stands for every item of
 * a list (`[].sg_event_id`, `data.events[].uuid`), in the list's order, and a dot in a name stands behind a
 * backslash; a field of a form; or, where a body tells what it is by what it has, the name of the first of the body's fields beside those that
 * are listed (`message` of Telegram, beside `update_id`).
 */
export type Field =
  | { readonly header: string }
  | {
      readonly body: string;
      /** The value is a whole number. Without it only texts count, so that 1 and "1" can't be one event. */
      readonly number?: true;
    }
  | { readonly form: string }
  | { readonly nameBeside: readonly string[] };

/** A few schemes; a row picks one and fills it in. The last ones are a provider's own. */
export type Scheme =
  | HmacScheme
  | PublicKeyScheme
  | TokenScheme
  | JwtScheme
  | { readonly kind: "twilio" | "adyen" | "contentful" | "braintree" | "paypal" | "sns" };

export type HmacScheme = {
  readonly kind: "hmac";
  /** Several where the provider lets its users choose: the signature's length tells which it is. */
  readonly hash: Hash | readonly Hash[];
  /**
   * `plain`: no HMAC but the hash of a message that holds `{secret}`, as some older schemes have it. Default: `hmac`.
   */
  readonly construction?: "hmac" | "plain";
  readonly secret: SecretForm;
  readonly signature: SignaturePlace;
  readonly timestamp?: Timestamp;
  /**
   * What is signed: text with `{body}`, `{timestamp}`, `{header:<name>}`, `{field:<path>}` of the JSON body,
   * `{method}`, `{url}`, `{form}` (the form's names and values, sorted by name) and, for a plain hash, `{secret}` in
   * it. The body's bytes go in as they came. Several where a provider's documents and its senders disagree: any of
   * them will do.
   */
  readonly message: string | readonly string[];
};

export type Hash = "sha256" | "sha1" | "sha512";

/**
 * How the configured secret becomes the key. `utf8`: the text. `whsec`: base64 behind an optional `whsec_`.
 * `whsec-only`: base64 behind `whsec_`, and another secret isn't for this scheme. `whsec-or-text`: another one is the text that
 * it is. `hex`: as it says.
 */
export type SecretForm = "utf8" | "whsec" | "whsec-only" | "whsec-or-text" | "hex";

/** Ed25519 or ECDSA over P-256: the secret is the provider's public key, which is none. */
export type PublicKeyScheme = {
  readonly kind: "public-key";
  readonly algorithm: "ed25519" | "ecdsa-p256";
  /** `hex`, `whpk`: a raw Ed25519 key, in hex, or in base64 behind `whpk_`. `spki`: base64 of its DER form. */
  readonly key: "hex" | "whpk" | "spki";
  readonly signature: SignatureHeader;
  readonly timestamp?: Timestamp;
  /** As for an HMAC. */
  readonly message: string;
};

/** No signature: a secret that comes with each delivery. The body is proven by nothing but the connection. */
export type TokenScheme = {
  readonly kind: "token";
  /** Where it stands. In a `body` path with `[]` it must stand in every item of a list, and there must be one. */
  readonly from: { readonly header: string } | { readonly body: string };
  /** In front of the token, in any case: `Bearer `. */
  readonly prefix?: string;
  /** `basic`: the secret is `user:password`, and comes as HTTP Basic. Default: as it is. */
  readonly form?: "basic";
  /** A secret that begins like this belongs to another of the provider's schemes. */
  readonly notFor?: string;
};

/** A JSON Web Token (RFC 7519) that binds the body by its hash. */
export type JwtScheme = {
  readonly kind: "jwt";
  readonly header: string;
  readonly prefix?: string;
  /** Accepted ones; what the token's own header says is held against them. Never `none`. */
  readonly algorithms: readonly ("HS256" | "HS384" | "HS512" | "ES256")[];
  /** `utf8`: the secret is the key. `jwk`: a public key as JSON, or fetched by its id from where the provider has it. */
  readonly key: "utf8" | { readonly fetch: "plaid" };
  /** The claim that holds the SHA-256 of the body. */
  readonly bodyHash: {
    readonly claim: string;
    readonly encoding: "hex" | "base64";
    /** An empty body has no such claim. */
    readonly absentWhenEmpty?: true;
  };
  /** The claim that holds the hex SHA-256 of the URL. */
  readonly urlHash?: string;
  /**
   * `iat`: issued within the tolerance. `exp`: `exp` is required and not past, `nbf` not in the future; the
   * tolerance is for clocks that differ.
   */
  readonly time: "iat" | "exp";
  readonly toleranceS: number;
};

export type SignaturePlace = SignatureHeader | SignatureField;

export type SignatureHeader = {
  /** Lower case. */
  readonly header: string;
  /** There may be several, `<header>-1`, `<header>-2`, …: one for each key that is valid. */
  readonly numbered?: true;
  readonly encoding: SignatureEncoding;
  readonly layout: SignatureLayout;
};

/** In the JSON body, under a dotted path. */
export type SignatureField = {
  readonly field: string;
  readonly encoding: SignatureEncoding;
};

export type SignatureEncoding = "hex" | "base64" | "base64url";

export type SignatureLayout =
  /** One signature, behind a prefix such as `sha256=` (in any case). */
  | { readonly kind: "single"; readonly prefix?: string; readonly prefixOptional?: true }
  /** `t=…,v1=…,v1=…`: the signatures are those under `key`; other keys are ignored. */
  | { readonly kind: "pairs"; readonly separator: "," | ";"; readonly key: string }
  /** `v1,… v1,…`: entries apart by a space, the signatures are those of `version`. */
  | { readonly kind: "versions"; readonly version: string };

export type Timestamp = {
  /** A pair of the signature header, a header of its own, or a number in the JSON body under a dotted path. */
  readonly from: { readonly pair: string } | { readonly header: string } | { readonly body: string };
  /** Seconds or milliseconds since 1970, or a date as in RFC 3339. */
  readonly unit: "s" | "ms" | "rfc3339";
  /**
   * How far the sender's clock may be from ours, in seconds, in both directions; the edge is accepted. `none`: the
   * provider promises no window, and a delivery is recognised by its identity alone.
   */
  readonly toleranceS: number | "none";
};
