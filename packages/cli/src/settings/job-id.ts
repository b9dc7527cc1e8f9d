import { isJobId } from "webhook-anvil/queue";
import { UsageError } from "../failure.ts";

/** @throws {UsageError} before anything else is made a Redis key */
export function checkJobId(text: string): string {
  if (isJobId(text)) return text;
  throw new UsageError(
    `"${text}" is no job id; write it as in the 202 or in anvil dead list: wh_ and 32 hex digits`,
  );
}
