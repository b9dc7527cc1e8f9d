import { AnvilError } from "../contract/errors.ts";
import type { Log } from "../contract/log.ts";
import { connectionTrouble } from "./connection-trouble.ts";
import type { Deadline } from "./deadline.ts";
import { promptClient, type RedisClient } from "./redis-clients.ts";
import { DEFAULT_REDIS_URL, describeAddress, type RedisTarget, redisAddress } from "./redis-target.ts";
import { replyCode } from "./reply-code.ts";

/** A Redis that answers inside a deadline or not at all. */
export type Connection = {
  readonly client: RedisClient;
  /** Host and port, for messages. */
  readonly where: string;
  /**
   * Runs commands on a connection that is up, again on a new one when it breaks, until the deadline. Only for
   * commands that may be applied twice: whether the lost one was applied is unknown.
   * @throws {AnvilError} `redis_unavailable`, with the reason
   */
  run<T>(deadline: Deadline, commands: (client: RedisClient) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

export type ConnectionOptions = {
  readonly redis?: RedisTarget;
  /** What the connection is called in CLIENT LIST. */
  readonly name: string;
  /** The deadline that its callers work under, in milliseconds: a socket that is silent for half of it is closed. */
  readonly deadlineMs: number;
  /** The silence after which it is closed, where commands may block for longer. */
  readonly silenceMs?: number;
  readonly log: Log;
};

/** Opens nothing yet: the first use does. */
export function createConnection(options: ConnectionOptions): Connection {
  const address = redisAddress(options.redis ?? DEFAULT_REDIS_URL);
  const where = describeAddress(address);
  const client = promptClient(address, options.deadlineMs, options.name, options.silenceMs);
  const waiting = new Set<() => void>();
  const said = new Set<string>();
  let worked = false;
  let lastError: Error | undefined;
  let closed = false;

  client.on("ready", () => {
    if (lastError) options.log.info({ redis: where }, "Redis is back");
    lastError = undefined;
    worked = true;
    said.clear();
    for (const wake of [...waiting]) wake();
  });
  // ioredis repeats the same errors at every attempt to connect, by sentinels several in turn; the log needs each once.
  client.on("error", (error: Error) => {
    if (!said.has(error.message)) {
      said.add(error.message);
      const reason = connectionTrouble(error, { secure: address.auth.tls !== undefined, worked });
      options.log.warn({ redis: where, reason }, "Redis can't be reached; trying again");
    }
    lastError = error;
  });

  /** Leaves nothing behind when the deadline passes: an outage of hours must not gather its requests. */
  function ready(deadline: Deadline, late: () => Error): Promise<void> {
    if (client.status === "ready") return Promise.resolve();
    if (client.status === "wait") void client.connect().catch(() => {});
    return new Promise((resolve, reject) => {
      const settle = (done: () => void) => {
        clearTimeout(timer);
        waiting.delete(wake);
        done();
      };
      const wake = () => settle(closed ? () => reject(unavailable("was closed")) : resolve);
      const timer = setTimeout(() => settle(() => reject(late())), deadline.remainingMs());
      waiting.add(wake);
    });
  }

  const unavailable = (what: string, cause?: unknown) =>
    new AnvilError("redis_unavailable", `Redis at ${where} ${what}`, cause ? { cause } : undefined);

  return {
    client,
    where,
    async run(deadline, commands) {
      const late = () =>
        lastError
          ? unavailable(`can't be reached: ${lastError.message}`, lastError)
          : unavailable("gave no answer in time");
      for (;;) {
        if (closed) throw unavailable("was closed");
        await ready(deadline, late);
        try {
          return await deadline.race(commands(client), late);
        } catch (error) {
          if (error instanceof AnvilError) throw error;
          const kind = (error as Error).name === "ReplyError" ? replyCode(error as Error) : undefined;
          if (kind && kind !== "READONLY") throw unavailable(`refused the command: ${kind}`, error);
          if (deadline.remainingMs() < 10) throw late();
          // The connection broke, or leads to a replica by now. ioredis connects again; give it the moment to
          // notice, so that this doesn't spin on a client that still believes that it is connected.
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      }
    },
    async close() {
      closed = true;
      client.disconnect();
      for (const wake of [...waiting]) wake();
    },
  };
}
