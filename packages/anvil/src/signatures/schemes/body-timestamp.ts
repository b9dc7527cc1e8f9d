import { valuesAt } from "../json-path.ts";
import type { Timestamp } from "../provider.ts";
import { type Refusal, refuse } from "../verdict.ts";
import { checkTimestamp } from "./timestamp.ts";

/** A timestamp that stands in the body, and is signed with it. */
export function checkBodyTimestamp(
  rule: Timestamp | undefined,
  payload: () => unknown,
  nowMs: number,
): Refusal | undefined {
  if (!rule || !("body" in rule.from)) return undefined;
  const [value] = valuesAt(payload(), rule.from.body);
  if (value === undefined) return refuse("missing_timestamp");
  if (typeof value !== "string" && !Number.isSafeInteger(value)) return refuse("malformed_timestamp");
  return checkTimestamp(rule, String(value), nowMs);
}
