import type { KeyObject } from "node:crypto";
import type { HeaderLookup } from "./headers.ts";

/** A request before its body, as its sender made it. Nothing in it is believed yet. */
export type Head = {
  /** Upper case. */
  readonly method: string;
  /**
   * The whole public URL with its query, as the provider was given it: some sign it. Never what a proxy made of
   * it. Empty where it isn't known; then a scheme that signs it refuses.
   */
  readonly url: string;
  readonly header: HeaderLookup;
};

export type Received = Head & {
  /** The bytes as they came. */
  readonly body: Uint8Array;
};

/** A secret in the form in which its scheme uses it. */
export type Key = Uint8Array | KeyObject;
