import type { Envelope } from "../contract/envelope.ts";
import { eventKey } from "../contract/event-key.ts";
import { newJobId } from "../contract/job-id.ts";
import type { ReplayRecord } from "../contract/replay-record.ts";
import type { NewJob } from "./enqueue.ts";

/** Whose replays the tests are. */
export const JANE: ReplayRecord = { at: 1_760_000_000_000, by: "jane" };

let made = 0;

/** A job whose event is like no other, for tests. */
export function someJob(envelope: Partial<Envelope> = {}, job: Partial<NewJob> = {}): NewJob {
  made += 1;
  const now = Date.now();
  return {
    id: newJobId(now),
    schedule: [1_000, 5_000],
    dedupeMs: 60_000,
    ...job,
    envelope: {
      v: 1,
      source: "default",
      key: eventKey("default", { kind: "provider", value: `evt_${process.pid}_${made}` }),
      type: "test.event",
      receivedAt: now,
      headers: { "content-type": "application/json" },
      body: `{"n":${made},"text":"é😀\\u2028"}`,
      encoding: "utf8",
      ...envelope,
    },
  };
}
