/** Where jobs wait and run. */
export const DEFAULT_QUEUE = "webhooks";

/**
 * In front of every key. The braces are a Redis Cluster hash tag: the main queue and the dead-letter queue
 * must lie in one slot, because a dead letter moves between them in one script.
 */
export const DEFAULT_PREFIX = "{anvil}";

/** `webhooks` → `webhooks.dead`. */
export function deadQueueName(queue: string): string {
  return `${queue}.dead`;
}

/** BullMQ's key for one part of a queue, or for one of its jobs. */
export function queueKey(prefix: string, queue: string, part: string): string {
  return `${prefix}:${queue}:${part}`;
}

/** A URL is one in the wrong place, and may hold a password. */
function shown(name: string): string {
  return name.includes("://") ? "(a URL)" : `"${name}"`;
}

/** Says what is wrong with a queue name or a prefix, or nothing. */
export function queueNameProblem(prefix: string, queue: string): string | undefined {
  const problems: string[] = [];
  if (!/^[\w.-]{1,100}$/.test(queue)) {
    problems.push(
      `queue ${shown(queue)}: use letters, digits, ".", "_" and "-" (":" would clash with Redis keys)`,
    );
  }
  if (!/^\{[^{}:\s]{1,100}\}$/.test(prefix)) {
    problems.push(
      `prefix ${shown(prefix)}: write it in braces, as in {anvil}, so that both queues share one cluster slot`,
    );
  }
  return problems.length > 0 ? problems.join("; ") : undefined;
}
