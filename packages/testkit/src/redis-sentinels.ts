import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { dieWithParent } from "anvil-bootstrap/die-with-parent";
import { freePort } from "anvil-bootstrap/free-port";
import { askRedis } from "anvil-bootstrap/redis-probe";
import { findRedisServer } from "anvil-bootstrap/redis-server";
import { atTestEnd } from "./at-test-end.ts";
import type { TestRedis } from "./redis.ts";
import { redisRole, type TestRedisReplicas } from "./redis-replicas.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { waitUntil } from "./wait-until.ts";

const SENTINELS = 3;
const QUORUM = 2;
const DOWN_AFTER_MS = 500;

export interface TestSentinel {
  readonly port: number;
  /** SIGSTOP: connections stay open, nothing is answered. */
  pause(): void;
  resume(): void;
  kill(): Promise<void>;
}

export interface TestSentinels {
  /** What they call the primary. */
  readonly name: string;
  readonly sentinels: readonly TestSentinel[];
  /** `redis-sentinel://127.0.0.1:<port>,…/<name>` */
  readonly url: string;
  /** Whom most of those that answer name. */
  primary(): Promise<TestRedis>;
  /** Waits until every sentinel that answers names another than this one, and that one takes writes. */
  successorOf(old: TestRedis): Promise<TestRedis>;
  /** Breaks the primary (SIGKILL or SIGSTOP) and waits for its successor: about two seconds. */
  failover(how: "kill" | "pause"): Promise<TestRedis>;
  stop(): Promise<void>;
}

/** Three sentinels over a primary and its replicas; two of them agree that it is down after half a second. Not with Docker. */
export async function startSentinels(group: TestRedisReplicas): Promise<TestSentinels> {
  const server = await findRedisServer();
  if (server.startsWith("docker:"))
    throw new Error("Sentinels need a redis-server on this machine, not Docker.");
  const name = "anvil-primary";
  const folder = await temporaryFolder("sentinels");
  const identities = await Promise.all(
    Array.from({ length: SENTINELS }, async () => ({
      port: await freePort(),
      id: randomBytes(20).toString("hex"),
    })),
  );
  const running: (TestSentinel & { stop(): Promise<void> })[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(running.map((sentinel) => sentinel.stop()));
    await folder.remove();
  };
  atTestEnd(stop);

  try {
    for (const self of identities) {
      const dir = join(folder.path, String(self.port));
      await mkdir(dir);
      const file = join(dir, "sentinel.conf");
      await writeFile(file, configuration(self, dir));
      running.push(await launch(server, file, self.port));
    }
    for (const { port } of identities) {
      await waitUntil(
        async () =>
          String(await askRedis(port, ["SENTINEL", "CKQUORUM", name])).startsWith(`OK ${SENTINELS} usable`),
        { what: `the sentinel on port ${port} has its quorum`, timeoutMs: 15_000 },
      );
      // For tests: how often it looks. Since 7.0; before that a failover takes some seconds more.
      await askRedis(port, [
        "SENTINEL",
        "DEBUG",
        "ask-period",
        100,
        "info-period",
        500,
        "publish-period",
        250,
      ]).catch(() => {});
    }
  } catch (error) {
    await stop();
    throw error;
  }

  // Who the others are is written down, since finding it out takes them some seconds.
  function configuration(self: { port: number; id: string }, dir: string): string {
    const primary = group.primary.port;
    const lines = [
      `port ${self.port}`,
      "bind 127.0.0.1",
      "protected-mode no",
      `dir ${dir}`,
      `sentinel myid ${self.id}`,
      `sentinel monitor ${name} 127.0.0.1 ${primary} ${QUORUM}`,
      `sentinel down-after-milliseconds ${name} ${DOWN_AFTER_MS}`,
      `sentinel failover-timeout ${name} 5000`,
      ...group.replicas.map(({ port }) => `sentinel known-replica ${name} 127.0.0.1 ${port}`),
      ...identities
        .filter(({ id }) => id !== self.id)
        .map(({ port, id }) => `sentinel known-sentinel ${name} 127.0.0.1 ${port} ${id}`),
    ];
    return `${lines.join("\n")}\n`;
  }

  async function named(port: number): Promise<number | undefined> {
    const address = await askRedis(port, ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", name]).catch(
      () => undefined,
    );
    return Array.isArray(address) ? Number(address[1]) : undefined;
  }

  const primary = async (): Promise<TestRedis> => {
    const votes = (await Promise.all(identities.map(({ port }) => named(port)))).filter(
      (port) => port !== undefined,
    );
    const most = votes.sort((a, b) => count(votes, b) - count(votes, a))[0];
    const node = group.nodes.find(({ port }) => port === most);
    if (!node) throw new Error("No sentinel names a primary.");
    return node;
  };

  const successorOf = (old: TestRedis): Promise<TestRedis> =>
    waitUntil(
      async () => {
        const votes = (await Promise.all(identities.map(({ port }) => named(port)))).filter(
          (port) => port !== undefined,
        );
        const [next] = votes;
        if (next === undefined || next === old.port || votes.some((port) => port !== next)) return false;
        if ((await redisRole(next)) !== "master") return false;
        return group.nodes.find(({ port }) => port === next) ?? false;
      },
      { what: "the sentinels name a new primary", timeoutMs: 20_000, intervalMs: 50 },
    );

  return {
    name,
    sentinels: running,
    url: `redis-sentinel://${identities.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${name}`,
    primary,
    successorOf,
    async failover(how) {
      const old = await primary();
      await (how === "kill" ? old.kill() : old.pause());
      return await successorOf(old);
    },
    stop,
  };
}

function count(votes: readonly number[], port: number): number {
  return votes.filter((vote) => vote === port).length;
}

async function launch(
  server: string,
  file: string,
  port: number,
): Promise<TestSentinel & { stop(): Promise<void> }> {
  const child = spawn(server, [file, "--sentinel"], { stdio: ["ignore", "pipe", "pipe"], detached: true });
  let log = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-5_000);
    });
  }
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const { pid } = child;
  if (pid === undefined) throw new Error(`${server} could not be started as a sentinel.`);
  const exited = ended.then(dieWithParent(pid));
  await waitUntil(
    () => {
      if (hasEnded(child)) return true;
      return log.includes("+monitor");
    },
    { what: `the sentinel on port ${port} runs`, timeoutMs: 15_000 },
  );
  if (hasEnded(child)) throw new Error(`The sentinel on port ${port} ended. It printed:\n${log}`);
  return {
    port,
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
    async stop() {
      // It has nothing to save, and a frozen one hears nothing else.
      child.kill("SIGKILL");
      await exited;
    },
  };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
