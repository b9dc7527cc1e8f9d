import type { Provider, RequestToVerify } from "webhook-anvil/signatures";

/** What is verified: the delivery, and what is expected of it. */
export type Trial = {
  readonly provider: Provider;
  readonly request: RequestToVerify & { readonly body: Uint8Array; readonly url: string };
  readonly secrets: readonly string[];
};

/** One thing that could be otherwise, and what it would mean if the delivery verified with it. */
export type Variation = {
  readonly kind: "body" | "secret" | "url" | "scheme" | "provider";
  /** As in "It verifies …". Never a secret or a part of a body. */
  readonly change: string;
  /** What has happened, and what to do. */
  readonly cause: string;
  readonly apply: (trial: Trial) => Trial;
};
