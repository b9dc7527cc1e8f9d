import { DEFAULT_PREFIX, DEFAULT_QUEUE, deadQueueName, queueKey } from "../contract/queue-names.ts";

/** Where a queue lies in Redis. */
export type QueuePlace = {
  /** Default: `webhooks`. */
  readonly queue?: string;
  /** Default: `{anvil}`. */
  readonly prefix?: string;
};

/** The keys of the main queue and of its dead letters, by BullMQ's part name or by job id. */
export function queueKeys(place: QueuePlace): { main(part: string): string; dead(part: string): string } {
  const { queue = DEFAULT_QUEUE, prefix = DEFAULT_PREFIX } = place;
  return {
    main: (part) => queueKey(prefix, queue, part),
    dead: (part) => queueKey(prefix, deadQueueName(queue), part),
  };
}
