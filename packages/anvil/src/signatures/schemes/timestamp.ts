import type { Timestamp } from "../provider.ts";
import { type Refusal, refuse } from "../verdict.ts";

/**
 * Holds a signed timestamp against the clock, in both directions: too old is a replay, too new would stay
 * valid for as long as it is ahead. Only plain decimal digits count: `1e9`, `123abc`, signs and spaces are
 * refused, as is a second value joined by a proxy.
 */
export function checkTimestamp(rule: Timestamp, text: string, nowMs: number): Refusal | undefined {
  const seconds = rule.unit === "rfc3339" ? dateSeconds(text) : plainSeconds(text, rule.unit);
  if (seconds === undefined) return refuse("malformed_timestamp");
  if (rule.toleranceS === "none") return undefined;
  const ageS = Math.floor(nowMs / 1000) - seconds;
  if (ageS > rule.toleranceS) return refuse("timestamp_too_old");
  if (ageS < -rule.toleranceS) return refuse("timestamp_in_future");
  // A tolerance that is no number compares as false with everything; that must not let everything in.
  return Math.abs(ageS) <= rule.toleranceS ? undefined : refuse("timestamp_too_old");
}

function plainSeconds(text: string, unit: "s" | "ms"): number | undefined {
  if (!/^(?:0|[1-9]\d{0,14})$/.test(text)) return undefined;
  return Math.floor(Number(text) / (unit === "s" ? 1 : 1000));
}

/** RFC 3339, section 5.6, with the zone that it requires. Date alone would take nearly anything. */
function dateSeconds(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(text)) return undefined;
  const parsed = Date.parse(text);
  return Number.isNaN(parsed) || !isOnCalendar(text) ? undefined : Math.floor(parsed / 1000);
}

/** Date.parse makes March 2nd of February 30th, and the next day of 24:00. */
function isOnCalendar(text: string): boolean {
  const clock = text.slice(0, 19);
  return new Date(Date.parse(`${clock}Z`)).toISOString().startsWith(clock);
}
