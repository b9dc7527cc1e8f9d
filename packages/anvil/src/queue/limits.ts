import type { ResolvedLimits } from "../contract/config.ts";
import { AnvilError } from "../contract/errors.ts";

/** An event that was refused by a limit of its source. Nothing of it was stored. */
export class LimitReached extends AnvilError {
  /** Until it may be sent again, in whole seconds, at least 1. */
  readonly retryAfterS: number;

  constructor(code: "rate_limited" | "queue_full", message: string, retryAfterS: number) {
    super(code, message);
    this.name = "LimitReached";
    this.retryAfterS = retryAfterS;
  }
}

/** When a place will be free depends on handlers; long enough not to be a storm. */
const FULL_RETRY_AFTER_S = 30;

/** What the limits add to the add script's keys and arguments, in the words of limits-lua.ts. */
export function limitsCommand(
  limits: ResolvedLimits,
  source: string,
  jobId: string,
  main: (part: string) => string,
): { keys: string[]; args: (string | number)[] } {
  const { rate, waiting = 0 } = limits;
  return {
    keys: [main(`limit:${source}:rate`), main(`limit:${source}:waiting`)],
    args: [jobId, main(""), rate ? 1_000_000 / rate.perSecond : 0, rate?.burst ?? 0, waiting],
  };
}

/** The script's answer as an error, when it is a refusal. */
export function refusedByLimit(reply: unknown, source: string): LimitReached | undefined {
  const [refused, code, seconds] = typeof reply === "string" ? reply.split(":") : [];
  if (refused !== "refused") return undefined;
  return code === "rate_limited"
    ? new LimitReached("rate_limited", `Source ${source} sends more events than its limit`, Number(seconds))
    : new LimitReached(
        "queue_full",
        `As many events of source ${source} wait as its limit allows`,
        FULL_RETRY_AFTER_S,
      );
}
