import type { ReplayRecord } from "../contract/replay-record.ts";
import type { Deadline } from "./deadline.ts";
import type { StoredEvent } from "./durability.ts";
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
   * @throws {LimitReached} when a limit of its source refuses it
   * @throws {AnvilError} `token_reused` when another event came with what its provider signs once
   */
  enqueue(deadline: Deadline, job: NewJob): Promise<Enqueued>;
  /**
   * Stores several jobs, all or none of them.
   * @throws as `enqueue`; after {LimitReached} some may be stored
   */
  enqueueAll(deadline: Deadline, jobs: readonly NewJob[]): Promise<Enqueued[]>;
  /** Settles once an event that `enqueue` answered for is as safe as the store's durability wants it. */
  confirm(deadline: Deadline, event: StoredEvent): Promise<void>;
  isDead(deadline: Deadline, jobId: string): Promise<boolean>;
  unbury(deadline: Deadline, jobId: string, token: string, record: ReplayRecord): Promise<UnburyResult>;
  /** Writes something small and short-lived: a Redis that is full or read-only answers pings all the same. */
  probe(deadline: Deadline): Promise<void>;
  /** In what way the server may lose what it has confirmed; none where it can't be asked now. Never rejects. */
  warnings(deadline: Deadline): Promise<readonly string[]>;
  /**
   * Whether the server can do what the durability asks for, before anything is stored.
   * @throws {ConfigError} when it never will, as it is set up
   */
  checkDurability(deadline: Deadline): Promise<void>;
  close(): Promise<void>;
};
