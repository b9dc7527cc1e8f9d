import type { Timestamp } from "./provider.ts";
import { type Refusal, refuse } from "./verdict.ts";

/**
 * Holds a signed timestamp against the clock, in both directions: too old is a replay, too new would stay
 * valid for as long as it is ahead. Only plain decimal digits count: `1e9`, `123abc`, signs and spaces are
 * refused, as is a second value joined by a proxy.
 */
export function checkTimestamp(rule: Timestamp, text: string, nowMs: number): Refusal | undefined {
  if (!/^(?:0|[1-9]\d{0,14})$/.test(text)) return refuse("malformed_timestamp");
  const perSecond = rule.unit === "s" ? 1 : 1000;
  const ageS = Math.floor(nowMs / 1000) - Math.floor(Number(text) / perSecond);
  if (ageS > rule.toleranceS) return refuse("timestamp_too_old");
  if (ageS < -rule.toleranceS) return refuse("timestamp_in_future");
  // A tolerance that is no number compares as false with everything; that must not let everything in.
  return Math.abs(ageS) <= rule.toleranceS ? undefined : refuse("timestamp_too_old");
}
