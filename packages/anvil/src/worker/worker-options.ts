import type { Cipher } from "../contract/cipher.ts";
import type { EncryptionConfig } from "../contract/config.ts";
import { resolveEncryption } from "../contract/encryption.ts";
import type { Environment } from "../contract/environment.ts";
import { ConfigError } from "../contract/errors.ts";
import { consoleLog, type Log } from "../contract/log.ts";
import { DEFAULT_PREFIX, DEFAULT_QUEUE, queueNameProblem } from "../contract/queue-names.ts";
import { DEFAULT_REDIS_URL, type RedisTarget } from "../queue/redis-target.ts";

export type WorkerOptions = {
  /** Default: redis://127.0.0.1:6379. */
  readonly redis?: RedisTarget;
  /** As on the ingress. Default: `webhooks`. */
  readonly queue?: string;
  /** As on the ingress. Default: `{anvil}`. */
  readonly prefix?: string;
  /** As on the ingress. Without it, encrypted events become dead letters, which can be replayed once it is here. */
  readonly encryption?: EncryptionConfig;
  /** Where `env("NAME")` in `encryption` is looked up. Pass process.env. Default: nothing. */
  readonly env?: Environment;
  /** Jobs that run at once in this process. Default: 10. */
  readonly concurrency?: number;
  /**
   * How long `close()` lets running handlers go on, in milliseconds; then their signal aborts, and what still
   * runs after another second at most goes back to the queue, costing no attempt. Default: 25 000. Keep it
   * below the platform's stop timeout (30 s on ECS).
   */
  readonly drainMs?: number;
  /**
   * How long a job stays ours without a sign of life, in milliseconds; renewed at half of it. A handler that
   * blocks the event loop for longer runs twice. Default: 30 000.
   */
  readonly lockMs?: number;
  /** How often the workers look for jobs whose worker died, in milliseconds. The same on all of them. Default: 30 000. */
  readonly stallCheckMs?: number;
  /**
   * How often a job may lose its worker before it is a dead letter. Each crash counts against every job that
   * ran beside it, so a small number turns two hard kills in a deploy into dead letters. Default: 10.
   */
  readonly maxStalls?: number;
  /** How often this worker buries what others left unburied, in milliseconds. Default: 10 000. */
  readonly sweepMs?: number;
  /** How many done jobs stay to be looked at, and for how long in milliseconds. Default: 1000, 24 hours. */
  readonly keepCompleted?: { readonly count: number; readonly ageMs: number };
  /** Default: JSON lines on the console. */
  readonly log?: Log;
};

export type ResolvedWorkerOptions = Required<Omit<WorkerOptions, "encryption" | "env">> & {
  /** Holds keys: never log it. */
  readonly cipher: Cipher | undefined;
};

const DAY_MS = 86_400_000;

/** @throws {ConfigError} naming every option that is wrong */
export function resolveWorkerOptions(options: WorkerOptions): ResolvedWorkerOptions {
  const problems: string[] = [];
  const resolved: ResolvedWorkerOptions = {
    redis: options.redis ?? DEFAULT_REDIS_URL,
    queue: options.queue ?? DEFAULT_QUEUE,
    prefix: options.prefix ?? DEFAULT_PREFIX,
    concurrency: options.concurrency ?? 10,
    drainMs: options.drainMs ?? 25_000,
    lockMs: options.lockMs ?? 30_000,
    stallCheckMs: options.stallCheckMs ?? 30_000,
    maxStalls: options.maxStalls ?? 10,
    sweepMs: options.sweepMs ?? 10_000,
    keepCompleted: options.keepCompleted ?? { count: 1_000, ageMs: DAY_MS },
    log: options.log ?? consoleLog,
    cipher: resolveEncryption(options.encryption, options.env ?? {}, problems),
  };
  // Timers take no more than 2^31 − 1 milliseconds, and fire at once for what is more.
  const check = (name: string, value: number, least: number, most = DAY_MS) => {
    if (!Number.isSafeInteger(value) || value < least || value > most) {
      problems.push(`${name}: a whole number from ${least} to ${most}, not ${String(value)}`);
    }
  };
  check("concurrency", resolved.concurrency, 1, 10_000);
  check("drainMs", resolved.drainMs, 0);
  check("lockMs", resolved.lockMs, 100);
  check("stallCheckMs", resolved.stallCheckMs, 50);
  check("maxStalls", resolved.maxStalls, 0, 1_000);
  check("sweepMs", resolved.sweepMs, 50);
  check("keepCompleted.count", resolved.keepCompleted.count, 0, 1_000_000);
  check("keepCompleted.ageMs", resolved.keepCompleted.ageMs, 1_000, 365 * DAY_MS);
  const nameProblem = queueNameProblem(resolved.prefix, resolved.queue);
  if (nameProblem) problems.push(nameProblem);
  if (problems.length > 0) throw new ConfigError(problems);
  return resolved;
}
