import { consoleLog } from "webhook-anvil";
import type { Handler } from "webhook-anvil/worker";

/** Says that an event arrived. A place to start from: replace it in index.ts. */
export const printEvent: Handler = (event, { attempt, idempotencyKey }) => {
  consoleLog.info(
    {
      jobId: event.id,
      source: event.source,
      type: event.type,
      bytes: event.bytes.length,
      attempt,
      idempotencyKey,
    },
    "event",
  );
};
