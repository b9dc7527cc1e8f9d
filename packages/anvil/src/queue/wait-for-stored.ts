import type { Durability } from "../contract/config.ts";
import type { Deadline } from "./deadline.ts";
import { type QueuePlace, queueKeys } from "./queue-place.ts";
import type { RedisClient } from "./redis-clients.ts";
import { replyCode } from "./reply-code.ts";

export type Waited =
  | {
      /** Whether a replica, or the disk, has everything that this server had done before. */
      readonly reached: boolean;
      /** What this very server holds under each deduplication key. */
      readonly jobIds: ReadonlyMap<string, string | null>;
    }
  /** The server's answer to WAIT or WAITAOF was this error. */
  | { readonly refused: Error };

/** Redis looks ten times a second whether a wait is over; so it answers before the deadline, and not right after. */
const EARLIER_MS = 150;

/**
 * Asks one server, in one pipeline, whether it holds these events and whether a replica or its disk has all of
 * them. What it holds has to be asked, since after a failover the new primary may lack an event that the old one
 * stored, and would confirm that nothing is missing.
 *
 * The small write in front of WAIT is what is waited for, together with everything before it. Without it there
 * would be nothing to wait for: since 7.2 a server remembers for each connection its own last write alone, and
 * answers at once to one that has only read (measured with Valkey 8.0; Redis 7.0 waits all the same). It also
 * makes a server that has become a replica say so.
 */
export async function waitForStored(
  client: RedisClient,
  place: QueuePlace,
  durability: Exclude<Durability, "memory">,
  dedupeKeys: readonly string[],
  deadline: Deadline,
): Promise<Waited> {
  const { main } = queueKeys(place);
  const mark = main("durability-mark");
  const keys = [...new Set(dedupeKeys)];
  const remaining = deadline.remainingMs();
  // Never 0: that would be for ever.
  const waitMs = Math.max(1, Math.floor(remaining - Math.min(EARLIER_MS, remaining / 4)));
  const pipeline = client.pipeline();
  for (const key of keys) pipeline.get(main(`de:${key}`));
  pipeline.set(mark, 1, "PX", 1000);
  if (durability === "replica") pipeline.wait(1, waitMs);
  else pipeline.call("WAITAOF", 1, 0, waitMs);
  const replies = (await pipeline.exec()) ?? [];

  const last = replies.pop();
  const failed = replies.find(([error]) => error)?.[0];
  if (failed && isMoved(failed)) {
    // A pipeline to a cluster isn't led to the new node when the slot has moved; a single command is, and the
    // client learns from it.
    await client.set(mark, 1, "PX", 1000);
    throw new Error("the slot has moved; trying again");
  }
  if (failed) throw failed;
  if (last === undefined) throw new Error("the pipeline gave no answer");
  const [refused, answer] = last;
  if (refused?.name === "ReplyError") return { refused };
  if (refused) throw refused;
  const count = Number(Array.isArray(answer) ? answer[0] : answer);
  return {
    reached: count >= 1,
    jobIds: new Map(keys.map((key, at) => [key, replies[at]?.[1] as string | null])),
  };
}

function isMoved(error: Error): boolean {
  return error.name === "ReplyError" && ["MOVED", "ASK"].includes(replyCode(error));
}
