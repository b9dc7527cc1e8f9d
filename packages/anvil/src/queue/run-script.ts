import { createHash } from "node:crypto";
import type { RedisClient } from "./redis-clients.ts";

export type Script = { readonly lua: string; readonly sha: string };

export function script(lua: string): Script {
  return { lua, sha: createHash("sha1").update(lua).digest("hex") };
}

export type ScriptArgument = string | number | Buffer;

export type ScriptCall = {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly ScriptArgument[];
};

/** The ways to run scripts, whatever carries them. */
export type ScriptRunner = {
  /** In one transaction: all of them or none. The text of each script goes along with its first call. */
  together(calls: readonly ScriptCall[]): Promise<unknown[]>;
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
    async together(calls) {
      const transaction = client.multi();
      const first = firstOfTheirScripts(calls);
      for (const [index, { script, keys, args }] of calls.entries()) {
        if (first[index]) transaction.eval(script.lua, keys.length, ...keys, ...args);
        else transaction.evalsha(script.sha, keys.length, ...keys, ...args);
      }
      const replies = await transaction.exec().catch(asFirstCause);
      if (replies === null) throw new Error("the transaction was not carried out");
      return replies.map(([error, reply]) => {
        if (error) throw error;
        return reply;
      });
    },
  };
}

/** Of a transaction that was discarded, the reason says what to do: OOM, READONLY, MOVED. */
function asFirstCause(error: Error & { readonly previousErrors?: readonly (Error | undefined)[] }): never {
  throw error.previousErrors?.find((cause) => cause !== undefined) ?? error;
}

/** Runs several scripts in one transaction. @returns their answers, in their order */
export async function runTogether(
  client: ScriptClient,
  calls: readonly ScriptCall[],
): Promise<readonly unknown[]> {
  return ("options" in client ? overTcp(client) : client).together(calls);
}

/** Whether each call is the first of its script in a transaction: only that one needs the text. */
export function firstOfTheirScripts(calls: readonly ScriptCall[]): readonly boolean[] {
  const seen = new Set<string>();
  return calls.map(({ script: { sha } }) => {
    const first = !seen.has(sha);
    seen.add(sha);
    return first;
  });
}
