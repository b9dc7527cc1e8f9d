import type { Log, LogFields } from "webhook-anvil";
import { oneLine } from "../output/plain-text.ts";
import type { Terminal } from "../output/terminal.ts";

export type DemoLog = Log & {
  /** From now on deliveries are told too: before, the story tells them itself. */
  tellDeliveries(): void;
};

/** The library's log in the demo's words: trouble with Redis always, the rest when the story is over. */
export function createDemoLog(out: Terminal): DemoLog {
  const { yellow } = out.style;
  let deliveries = false;
  let redisWasDown = false;
  const tell = (fields: LogFields, message: string) => {
    // The ingress names the source; what a worker says of a job, the handler's runs say better.
    if (!deliveries || fields.source === undefined) return;
    const { type, jobId, reason } = fields;
    const event = type === undefined ? "a delivery" : String(type);
    const details = [jobId, reason === undefined ? undefined : `(${String(reason)})`].filter(Boolean);
    out.line(`   ${oneLine([`${event}:`, message, ...details].join(" "))}`);
  };
  return {
    info(fields, message) {
      if (redisWasDown && message === "Redis is back") {
        redisWasDown = false;
        out.line(yellow("   Redis is back"));
      }
      tell(fields, message);
    },
    warn(fields, message) {
      if (fields.redis !== undefined && !redisWasDown) {
        redisWasDown = true;
        out.line(yellow(`   ${oneLine(`${message} (${String(fields.reason)})`)}`));
      }
      tell(fields, message);
    },
    error: tell,
    tellDeliveries() {
      deliveries = true;
    },
  };
}
