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

/** Scripts that a client has sent, or is sending: the promise settles when the server must know it. */
const sentBy = new WeakMap<ScriptClient, Map<string, Promise<unknown>>>();

/**
 * Runs a Lua script. The first time through a client the text itself is sent, so that a cold start takes one
 * round trip and not two; later its digest, and the text again where a server doesn't know it (restart,
 * SCRIPT FLUSH, another cluster node). Of many at once, one sends the text and the others wait for it: a burst
 * on a new connection would otherwise carry the text as often as there are events.
 */
export async function runScript(
  client: ScriptClient,
  script: Script,
  keys: readonly string[],
  args: readonly ScriptArgument[],
): Promise<unknown> {
  const runner = "options" in client ? overTcp(client) : client;
  const sent = sentBy.get(client) ?? new Map<string, Promise<unknown>>();
  sentBy.set(client, sent);
  const sending = sent.get(script.sha);
  if (sending) {
    // Whether it went well or not: each waits once at most, and then tries for itself.
    await sending.catch(() => {});
    try {
      return await runner.evalsha(script, keys, args);
    } catch (error) {
      if (!(error as Error).message.startsWith("NOSCRIPT")) throw error;
      if (sent.get(script.sha) === sending) sent.delete(script.sha);
      else return runScript(client, script, keys, args);
    }
  }
  const evaluated = runner.eval(script, keys, args);
  sent.set(script.sha, evaluated);
  try {
    return await evaluated;
  } catch (error) {
    if (sent.get(script.sha) === evaluated) sent.delete(script.sha);
    throw error;
  }
}

function overTcp(client: RedisClient): ScriptRunner {
  return {
    evalsha: ({ sha }, keys, args) => client.evalsha(sha, keys.length, ...keys, ...args),
    eval: ({ lua }, keys, args) => client.eval(lua, keys.length, ...keys, ...args),
  };
}
