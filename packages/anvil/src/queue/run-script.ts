import { createHash } from "node:crypto";
import type { RedisClient } from "./redis-clients.ts";

export type Script = { readonly lua: string; readonly sha: string };

export function script(lua: string): Script {
  return { lua, sha: createHash("sha1").update(lua).digest("hex") };
}

const sentBefore = new WeakMap<RedisClient, Set<string>>();

/**
 * Runs a Lua script. The first time through a client the text itself is sent, so that a cold start takes one
 * round trip and not two; later its digest, and the text again where a server doesn't know it (restart,
 * SCRIPT FLUSH, another cluster node).
 */
export async function runScript(
  client: RedisClient,
  { lua, sha }: Script,
  keys: readonly string[],
  args: readonly (string | number | Buffer)[],
): Promise<unknown> {
  const sent = sentBefore.get(client) ?? new Set();
  sentBefore.set(client, sent);
  if (sent.has(sha)) {
    try {
      return await client.evalsha(sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error as Error).message.startsWith("NOSCRIPT")) throw error;
    }
  }
  const result = await client.eval(lua, keys.length, ...keys, ...args);
  sent.add(sha);
  return result;
}
