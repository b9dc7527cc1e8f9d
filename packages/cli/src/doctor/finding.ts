/** One thing that was looked at. */
export type Finding = {
  /** What was looked at, in a word or two; stable, for programs. */
  readonly check: string;
  readonly level: "ok" | "warn" | "fail";
  /** What was found. Never a secret or a password. */
  readonly message: string;
  /** What to do about it; absent when there is nothing to do. */
  readonly action?: string;
};

export function ok(check: string, message: string): Finding {
  return { check, level: "ok", message };
}

export function warn(check: string, message: string, action: string): Finding {
  return { check, level: "warn", message, action };
}

export function fail(check: string, message: string, action: string): Finding {
  return { check, level: "fail", message, action };
}
