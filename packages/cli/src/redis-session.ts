import { silentLog } from "webhook-anvil/config";
import { type Connection, createConnection, deadlineIn, type RedisClient } from "webhook-anvil/queue";
import type { Environment } from "./context.ts";
import { redisUrl } from "./settings/redis-url.ts";

/** A person waits: long enough for a Redis on the other side of the world, short enough to stay in front of. */
export const DEADLINE_MS = 3_000;

export type RedisSession = {
  readonly connection: Connection;
  /** Runs commands that may be applied twice, within the deadline. */
  run<T>(commands: (client: RedisClient) => Promise<T>): Promise<T>;
};

/** A connection for as long as `work` takes. */
export async function withRedis<T>(env: Environment, work: (redis: RedisSession) => Promise<T>): Promise<T> {
  const connection = createConnection({
    redis: redisUrl(env),
    name: "anvil-cli",
    deadlineMs: DEADLINE_MS,
    // What fails is told once, by the error that ends the command.
    log: silentLog,
  });
  try {
    return await work({
      connection,
      run: (commands) => connection.run(deadlineIn(DEADLINE_MS), commands),
    });
  } finally {
    await connection.close();
  }
}
