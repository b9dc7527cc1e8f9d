/**
 * An error with a stable code. Match on `code`, never on `message`.
 * `message` says what happened and what to do, and never holds a secret or a body.
 */
export class AnvilError extends Error {
  readonly code: AnvilErrorCode;

  constructor(code: AnvilErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AnvilError";
    this.code = code;
  }
}

/** Codes are never renamed and never reused. */
export type AnvilErrorCode =
  /** The configuration can't be used; `ConfigError.problems` lists everything wrong with it. */
  | "invalid_config"
  /** Redis didn't confirm the command. What was sent may still land, so send it again: it can't double. */
  | "redis_unavailable"
  /** The source has sent more new events than its limit lets through. Nothing was stored. */
  | "rate_limited"
  /** As many events of the source wait as its limit lets wait. Nothing was stored. */
  | "queue_full"
  /** What its provider signs once has come with another event before. Nothing was stored. */
  | "token_reused"
  /** The event can't be stored as large as it is: the transport or the plan of the Redis has a limit. */
  | "event_too_large"
  /** A stored job that this version can't read. It becomes a dead letter with reason `unreadable`. */
  | "unreadable_job"
  /** Used after it was closed. */
  | "closed"
  /** No handler matches the event's source and type. */
  | "no_handler";

/** Everything that is wrong with a configuration, at once, so that one restart is enough. */
export class ConfigError extends AnvilError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      "invalid_config",
      problems.length === 1
        ? `Configuration: ${problems[0]}`
        : `Configuration, ${problems.length} problems:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`,
    );
    this.name = "ConfigError";
    this.problems = problems;
  }
}
