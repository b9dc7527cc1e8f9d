import type { Deadline } from "./deadline.ts";
import type { Enqueued, NewJob } from "./enqueue.ts";
import type { UnburyResult } from "./unbury.ts";

/**
 * What the ingress asks of Redis, whatever carries it: TCP or REST. Every call may be made twice, and every one
 * settles by its deadline.
 * All throw {AnvilError} `redis_unavailable` when it isn't known whether the call was applied.
 */
export type EventStore = {
  /**
   * Stores the job unless its event is known.
   * @throws {AnvilError} `event_too_large` where the transport can't carry it
   */
  enqueue(deadline: Deadline, job: NewJob): Promise<Enqueued>;
  isDead(deadline: Deadline, jobId: string): Promise<boolean>;
  unbury(deadline: Deadline, jobId: string, token: string): Promise<UnburyResult>;
  /** Writes something small and short-lived: a Redis that is full or read-only answers pings all the same. */
  probe(deadline: Deadline): Promise<void>;
  close(): Promise<void>;
};
