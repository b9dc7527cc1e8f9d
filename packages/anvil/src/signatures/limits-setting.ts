import * as v from "valibot";
import type { ResolvedLimits, SourceLimits } from "../contract/config.ts";

const MAX_PER_SECOND = 100_000;
const MAX_WAITING = 1_000_000;
const PER_SECOND = `a number above 0, at most ${MAX_PER_SECOND}`;

/** A day: whoever wants less often wants something else. Numbers below would lose their precision in Redis. */
const LONGEST_INTERVAL_S = 86_400;

const events = (most: number): v.GenericSchema<number> => {
  const message = `a whole number of events from 1 to ${most}`;
  return v.pipe(
    v.number(message),
    v.check((value) => Number.isSafeInteger(value) && value >= 1 && value <= most, message),
  );
};

type Entry = v.OptionalSchema<v.GenericSchema<number>, undefined>;

export const limitsEntries: { perSecond: Entry; burst: Entry; waiting: Entry } = {
  perSecond: v.optional(
    v.pipe(
      v.number(PER_SECOND),
      v.check((value) => value >= 1 / LONGEST_INTERVAL_S && value <= MAX_PER_SECOND, PER_SECOND),
    ),
  ),
  burst: v.optional(events(MAX_PER_SECOND)),
  waiting: v.optional(events(MAX_WAITING)),
};

/** What is wrong with limits that are right each by itself, or nothing. */
export function limitsProblem(limits: SourceLimits | undefined): string | undefined {
  if (limits?.burst === undefined || limits.perSecond !== undefined) return undefined;
  return "limits.burst: means nothing without perSecond; set both";
}

export function resolveLimits({ perSecond, burst, waiting }: SourceLimits = {}): ResolvedLimits | undefined {
  if (perSecond === undefined && waiting === undefined) return undefined;
  return {
    ...(perSecond === undefined ? {} : { rate: { perSecond, burst: burst ?? Math.ceil(perSecond) } }),
    ...(waiting === undefined ? {} : { waiting }),
  };
}
