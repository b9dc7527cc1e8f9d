import type { Environment } from "./context.ts";
import { oneLine } from "./output/plain-text.ts";

/** The command line itself is wrong: exit code 2. The message says what to write. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What was asked for didn't work out: exit code 1. The message says what happened and what to do. */
export class Failure extends Error {
  override readonly name = "Failure";
}

export type Explained = { readonly lines: readonly string[]; readonly exitCode: 1 | 2 };

/** An error as a person at a terminal is told it: a sentence, several only for several problems, no stack. */
export function explain(error: unknown, env: Environment): Explained {
  const lines = sentences(error).map((sentence) => `anvil: ${oneLine(sentence)}`);
  if (env.ANVIL_DEBUG && error instanceof Error && error.stack) lines.push(error.stack);
  return { lines, exitCode: error instanceof UsageError ? 2 : 1 };
}

function sentences(error: unknown): readonly string[] {
  if (error instanceof UsageError || error instanceof Failure) return [error.message];
  if (!(error instanceof Error)) return [`${String(error)} was thrown, which is no error`];
  // By code, not by class: the configuration file may have brought its own copy of the library.
  const { code, problems } = error as { code?: unknown; problems?: readonly string[] };
  if (code === "invalid_config") return problems ?? [error.message];
  if (code === "redis_unavailable") return [`${error.message}; ${redisAdvice(error.message)}`];
  if (error.name === "AnvilError") return [error.message];
  return [`${error.name}: ${error.message} (unexpected; ANVIL_DEBUG=1 shows where)`];
}

/** @param message of the library's `redis_unavailable` */
export function redisAdvice(message: string): string {
  if (/NOAUTH|WRONGPASS/.test(message)) return "REDIS_URL lacks the right user or password";
  if (/ENOTFOUND|EAI_AGAIN/.test(message)) return "no such host; check REDIS_URL";
  if (/NOPERM/.test(message)) return "give the user of REDIS_URL the rights for this command";
  if (/refused the command: OOM/.test(message)) return "Redis is full; raise its maxmemory";
  if (/slots cache/.test(message)) return "is it a cluster? If not, leave ?cluster=true out of REDIS_URL";
  if (/\(TLS\)/.test(message) && /TIMEDOUT|EPROTO|SSL|wrong version/i.test(message)) {
    return "does it speak TLS? If not, write redis:// in REDIS_URL";
  }
  if (/LOADING/.test(message)) return "Redis is reading its data; try again in a moment";
  return "start it, or name another with REDIS_URL";
}
