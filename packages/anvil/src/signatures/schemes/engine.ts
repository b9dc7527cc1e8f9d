import type { Head, Key, Received } from "../received.ts";
import type { Refusal } from "../verdict.ts";

/** The signature matched. */
export type Proof = {
  readonly ok: true;
  /**
   * Its bytes, whatever its spelling; of a kind of signature that can be rewritten into another good one (ECDSA), what
   * was signed instead.
   */
  readonly signature: Uint8Array;
  /**
   * What it covers of the body, where that can be spelt in several ways: a form's fields. Whoever has captured a
   * delivery could otherwise make an event of another identity from it.
   */
  readonly covers?: Uint8Array;
};

export type Moment = {
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** Gets what a scheme needs from its provider: a certificate, a key. Without it such a scheme refuses. */
  readonly fetchKey?: FetchKey;
};

/**
 * What stands under an https URL, or a public key by its id. Allowed hosts only are asked for; whoever implements it
 * keeps what it got.
 * @throws {KeyUnavailable} when it can't be had now: the delivery may be fine, so the sender is to come again
 */
export type FetchKey = (wanted: WantedKey) => Promise<string>;

export type WantedKey =
  | { readonly kind: "certificate"; readonly url: string }
  | {
      readonly kind: "jwk";
      readonly provider: "plaid";
      readonly kid: string;
      /** The source's secret, with which the provider is asked. */
      readonly credentials: string;
    };

/** A certificate or key that could not be fetched. No verdict on the delivery: answered 503, not 401. */
export class KeyUnavailable extends Error {
  override name = "KeyUnavailable";
}

/** What a kind of scheme can do with a row of it. Pure but for `fetchKey`. */
export type SchemeEngine<Row> = {
  /** @returns undefined when the secret isn't in the scheme's form, or is meant for another one */
  readKey(row: Row, secret: string): Key | undefined;
  /** What the headers alone tell: a delivery that can't even claim a signature is refused before its body is read. */
  precheck(row: Row, head: Head, nowMs: number): Refusal | undefined;
  /** @param keys every one that is valid now, at least one */
  verify(
    row: Row,
    received: Received,
    keys: readonly Key[],
    moment: Moment,
  ): Proof | Refusal | Promise<Proof | Refusal>;
  /**
   * Signs a request as the provider would. Not for schemes whose signing key only the provider has.
   * @returns what signing adds: headers, and a body or URL where the signature is part of it; or why it can't
   */
  sign?(row: Row, unsigned: Received, key: Key, nowMs: number): Signed | Refusal;
};

type Signed = {
  readonly ok: true;
  /** Lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly url?: string;
};
