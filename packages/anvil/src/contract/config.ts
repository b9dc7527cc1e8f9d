import type { RetrySchedule } from "./retry-schedule.ts";

/** A value that is read from the environment when the process starts, so that the file holds no secret. */
export type EnvRef = { readonly env: string };

/** Names an environment variable (or an SST secret of that name) in the configuration file. */
export function env(name: string): EnvRef {
  return { env: name };
}

export type Secret = string | EnvRef;

/** One place that sends webhooks: `POST /webhooks/<its name>`. */
export type SourceConfig<Provider = unknown> = {
  /** How its deliveries are signed and identified: a provider's name, or a row of your own. */
  readonly provider: Provider;
  /** The signing secret. Several are valid at once while one is being rotated. */
  readonly secret: Secret | readonly Secret[];
  /** The secret before the current one; may be unset. Valid as long as it is set. */
  readonly previousSecret?: Secret;
  /** Replaces the retry schedule for this source. Default: the global one. */
  readonly retry?: RetryConfig;
  /**
   * The public URL of this source as the provider was told it, needed where the provider signs it (Twilio, Square,
   * Trello, HubSpot and others). What a proxy in between makes of it doesn't matter then.
   */
  readonly url?: string;
  /**
   * What makes two deliveries the same event. `"provider"` (default): what the provider's row says, which falls back
   * to sha256(signature + payload). `"body"`: equal bytes are one event, for providers whose id isn't signed. Or
   * `"signature+body"`. Or a function of the verified delivery, which gives a text, or nothing for the fallback.
   */
  readonly identity?: "provider" | "body" | "signature+body" | IdentityFunction;
  /** For providers that send lists of events: a job for each, stored all or none. Default: one job for the list. */
  readonly split?: boolean;
  /** What Meta or a WebSub hub was told to prove itself with when it asks whether this endpoint is wanted. */
  readonly verifyToken?: Secret;
  /** The topics that this source has subscribed to at a WebSub hub. */
  readonly topics?: readonly string[];
  /** How long a delivery is recognised when it comes again, in milliseconds. Default: 7 days. */
  readonly dedupeMs?: number;
  /** The largest body that is accepted, in bytes. Default: 1 MiB, at most 25 MiB. */
  readonly bodyLimit?: number;
  /**
   * When an event is delivered again whose job is a dead letter: `"keep"` (default) leaves it there for a
   * person; `"replay"` runs it again with its full schedule.
   */
  readonly onDeadRedelivery?: "keep" | "replay";
  /** What it may send. Default: no limit. */
  readonly limits?: SourceLimits;
};

/**
 * What one source may send, counted in Redis and so over all processes and functions. A delivery that was seen
 * before costs nothing and is always answered 202.
 */
export type SourceLimits = {
  /** New events for each second, a fraction too; more are answered 429 with Retry-After. Default: no limit. */
  readonly perSecond?: number;
  /** How many of these may come at once. Default: `perSecond`, rounded up. */
  readonly burst?: number;
  /**
   * Accepted events that are neither done nor dead; more are answered 503 with Retry-After. An event that was
   * replayed by hand may stay uncounted. Default: no limit.
   */
  readonly waiting?: number;
};

/** The limits of a source with their defaults filled in; at least one of the two. */
export type ResolvedLimits = {
  readonly rate?: { readonly perSecond: number; readonly burst: number };
  readonly waiting?: number;
};

/**
 * A verified delivery, of which the same event gives the same text, and no other event does. What throws, or gives
 * something else than a text, loses no event: the fallback counts, and it is logged.
 */
export type IdentityFunction = (delivery: {
  readonly bytes: Uint8Array;
  /** By a name in lower case. */
  readonly header: (name: string) => string | undefined;
  /** As the provider's row reads them. */
  readonly eventId: string | undefined;
  readonly type: string | undefined;
}) => string | undefined;

export type RetryConfig = {
  /** Delays in milliseconds, one for each retry. Default: 1 s, 5 s, 30 s, 5 min. */
  readonly schedule: RetrySchedule;
};

/** Encrypts what events hold, for whoever sees Redis or its dumps. Needs the same on ingress and workers. */
export type EncryptionConfig = {
  /**
   * Bodies of new events, and results of steps, are encrypted with it (AES-256-GCM): base64 of 32 random bytes, as
   * `openssl rand -base64 32` makes them. Leave it out to encrypt no more, and still read what was.
   */
  readonly key?: Secret;
  /** Keys of older events, for as long as some may be left. Those that are unset are passed over. */
  readonly previousKeys?: readonly Secret[];
};

/** What anvil.config.ts exports: the sources, in one place, read by functions and workers alike. */
export type AnvilConfig<Provider = unknown> = {
  /** By name; `default` is the one behind `POST /webhooks`. */
  readonly sources: Readonly<Record<string, SourceConfig<Provider>>>;
  /** For every source that has none of its own. ANVIL_RETRY_SCHEDULE in the environment replaces it. */
  readonly retry?: RetryConfig;
  /** Default: none, and bodies lie in Redis as they came. */
  readonly encryption?: EncryptionConfig;
  /** The queue's name; dead letters lie in `<queue>.dead`. Default: `webhooks`. */
  readonly queue?: string;
  /** In front of every Redis key, in braces (a cluster hash tag). Default: `{anvil}`. */
  readonly prefix?: string;
  /** What a 202 waits for. Default: `memory`. ANVIL_DURABILITY in the environment replaces it. */
  readonly durability?: Durability;
};

/**
 * What a 202 waits for: that Redis has the event in `memory`, that a `replica` has acknowledged it (WAIT), or that
 * the server has it on `disk` (WAITAOF: Redis 7.2 or Valkey, with `appendonly yes`). docs/durability.md says what
 * each can lose.
 */
export type Durability = "memory" | "replica" | "disk";

/** 7 days: longer than nearly every provider goes on retrying. */
export const DEFAULT_DEDUPE_MS: number = 7 * 86_400_000;
export const DEFAULT_BODY_LIMIT: number = 1024 * 1024;
export const MAX_BODY_LIMIT: number = 25 * 1024 * 1024;
/** Everything between a complete body and the answer, in milliseconds. */
export const DEFAULT_DEADLINE_MS = 2_000;
