import { createHash } from "node:crypto";
import type { RedisClient } from "./redis-clients.ts";

export type Script = { readonly lua: string; readonly sha: string };

export function script(lua: string): Script {
  return { lua, sha: createHash("sha1").update(lua).digest("hex") };
}

export type ScriptArgument = string | number | Buffer;

/** The two ways to run a script, whatever carries them. */
export type ScriptRunner = {
  evalsha(script: Script, keys: readonly string[], args: readonly ScriptArgument[]): Promise<unknown>;
  eval(script: Script, keys: readonly string[], args: readonly ScriptArgument[]): Promise<unknown>;
};

/** A connection, or anything else that runs scripts. */
export type ScriptClient = RedisClient | ScriptRunner;

const sentBefore = new WeakMap<ScriptClient, Set<string>>();

/**
 * Runs a Lua script. The first time through a client the text itself is sent, so that a cold start takes one
 * round trip and not two; later its digest, and the text again where a server doesn't know it (restart,
 * SCRIPT FLUSH, another cluster node).
 */
export async function runScript(
  client: ScriptClient,
  script: Script,
  keys: readonly string[],
  args: readonly ScriptArgument[],
): Promise<unknown> {
  const runner = "options" in client ? overTcp(client) : client;
  const sent = sentBefore.get(client) ?? new Set();
  sentBefore.set(client, sent);
  if (sent.has(script.sha)) {
    try {
      return await runner.evalsha(script, keys, args);
    } catch (error) {
      if (!(error as Error).message.startsWith("NOSCRIPT")) throw error;
    }
  }
  const result = await runner.eval(script, keys, args);
  sent.add(script.sha);
  return result;
}

function overTcp(client: RedisClient): ScriptRunner {
  return {
    evalsha: ({ sha }, keys, args) => client.evalsha(sha, keys.length, ...keys, ...args),
    eval: ({ lua }, keys, args) => client.eval(lua, keys.length, ...keys, ...args),
  };
}
