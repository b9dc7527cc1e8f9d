import { randomBytes } from "node:crypto";
import { askRedis } from "anvil-bootstrap/redis-probe";
import { type RedisServer, startRedisServer } from "anvil-bootstrap/redis-server";
import { inject } from "vitest";
import { atTestEnd } from "./at-test-end.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { waitUntil } from "./wait-until.ts";

/** The Redis that all tests of a run share; never restart, flush or reconfigure it. */
export function sharedRedisUrl(): string {
  return inject("sharedRedisUrl");
}

/** A key prefix that no other test has, in braces like every prefix of ours (one slot on a cluster). */
export function uniquePrefix(): string {
  return `{anvil-${randomBytes(8).toString("hex")}}`;
}

export interface StartRedisOptions {
  /** Keeps the data over `restart()`; false by default. */
  appendonly?: boolean;
  /** Further settings, as on the server's command line: `["--maxmemory", "2mb"]`. */
  args?: readonly string[];
  /** The server's program, where it has to be a certain one. The one that every test uses by default. */
  server?: string;
}

export interface TestRedis {
  readonly url: string;
  readonly port: number;
  /** Changes with `restart()`. */
  readonly pid: number;
  /** SIGSTOP: connections stay open, nothing is answered. Resolves once it is so. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** SIGKILL: connections break, the port is closed. */
  kill(): Promise<void>;
  /** An orderly end, and the data is gone. */
  stop(): Promise<void>;
  /** The same port and data folder, whether it is still running or was killed. */
  restart(): Promise<void>;
}

/** A Redis of this test's own, to be broken at will. It is stopped when the test that started it ends. */
export async function startRedis(options: StartRedisOptions = {}): Promise<TestRedis> {
  const folder = await temporaryFolder("redis");
  const settings = {
    dir: folder.path,
    appendonly: options.appendonly ?? false,
    args: options.args ?? [],
    ...(options.server ? { server: options.server } : {}),
  };
  let server: RedisServer;
  try {
    server = await startRedisServer(settings);
  } catch (error) {
    await folder.remove();
    throw error;
  }

  const redis: TestRedis = {
    url: server.url,
    port: server.port,
    get pid() {
      return server.pid;
    },
    async pause() {
      server.signal("SIGSTOP");
      // The signal is delivered a moment after it is sent.
      await waitUntil(async () => !(await answers(server.port, 100)), { what: "the paused Redis is silent" });
    },
    async resume() {
      server.signal("SIGCONT");
      await waitUntil(() => answers(server.port, 1_000), { what: "the resumed Redis answers" });
    },
    async kill() {
      server.signal("SIGKILL");
      await server.exited;
    },
    async stop() {
      await server.stop();
      await folder.remove();
    },
    async restart() {
      await server.stop();
      server = await startRedisServer({ ...settings, port: server.port });
    },
  };
  atTestEnd(() => redis.stop());
  return redis;
}

async function answers(port: number, timeoutMs: number): Promise<boolean> {
  try {
    await askRedis(port, ["PING"], { timeoutMs });
    return true;
  } catch {
    return false;
  }
}
