import type { RedisClient } from "./redis-clients.ts";
import { replyCode } from "./reply-code.ts";

/** Whether a Redis is fit to hold the only copy of an event. */

/**
 * In what way this Redis may lose what it has confirmed, one sentence each, empty when in none. A policy that can't be
 * read, as on most hosted servers, is one of them.
 * @throws what isn't an answer: a broken connection
 */
export async function evictionWarnings(client: RedisClient): Promise<string[]> {
  // Each primary of a cluster has its own settings, and any of them may hold the queue after a move.
  const nodes = "nodes" in client ? client.nodes("master") : [client];
  const warnings = await Promise.all(nodes.map(async (node) => warningFor(await evictionPolicy(node))));
  return [...new Set(warnings.filter((warning) => warning !== undefined))];
}

function warningFor(policy: string | undefined): string | undefined {
  if (policy === "noeviction") return undefined;
  if (policy === undefined) {
    return (
      "maxmemory-policy can't be read, since CONFIG and INFO are refused; make sure that it is noeviction, " +
      "or a full Redis deletes events that were answered with 202"
    );
  }
  return (
    `maxmemory-policy is ${policy}: when its memory is full, Redis deletes events that were answered with 202, ` +
    "and deduplication keys and locks with them; set it to noeviction"
  );
}

async function evictionPolicy(node: Pick<RedisClient, "config" | "info">): Promise<string | undefined> {
  const setting = (await unlessRefused(node.config("GET", "maxmemory-policy"))) as string[] | undefined;
  if (setting?.[1]) return setting[1];
  const info = (await unlessRefused(node.info("memory"))) ?? "";
  return /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
}

async function unlessRefused<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if ((error as Error).name === "ReplyError") return undefined;
    throw error;
  }
}

/**
 * Everything is done by scripts. An ACL that refuses them would leave a worker that waits for ever and looks like one
 * that works.
 * @throws what Redis refuses them with; what passes by itself (full, loading, read-only) is no refusal
 */
export async function assertScripts(client: RedisClient): Promise<void> {
  try {
    await client.eval("return 1", 0);
  } catch (error) {
    if ((error as Error).name === "ReplyError" && replyCode(error as Error) === "NOPERM") throw error;
  }
}
