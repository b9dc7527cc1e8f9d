import { askRedis } from "anvil-bootstrap/redis-probe";
import { atTestEnd } from "./at-test-end.ts";
import { type StartRedisOptions, startRedis, type TestRedis } from "./redis.ts";
import { waitUntil } from "./wait-until.ts";

export interface TestRedisReplicas {
  /** The primary first. Who is what changes with `promote`, and with sentinels. */
  readonly nodes: readonly TestRedis[];
  /** The one that was the primary at the start, or was promoted last. */
  readonly primary: TestRedis;
  readonly replicas: readonly TestRedis[];
  /** Resolves when every replica that can be reached has all that the primary has been told. */
  caughtUp(): Promise<void>;
  /**
   * Makes this node the primary and every other one that can be reached its replica, the old primary among them:
   * REPLICAOF, as an operator does it. Connections stay open.
   */
  promote(node: TestRedis): Promise<void>;
  stop(): Promise<void>;
}

export interface StartRedisReplicasOptions extends StartRedisOptions {
  /** One by default. */
  replicas?: number;
}

/** A primary and its replicas, in sync when it resolves. Not with Docker: the nodes have to reach each other. */
export async function startRedisReplicas(
  options: StartRedisReplicasOptions = {},
): Promise<TestRedisReplicas> {
  const { replicas = 1, args = [], ...rest } = options;
  const nodes: TestRedis[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  atTestEnd(stop);
  // Without the pause that gathers replicas for one transfer: it is most of the time that a full sync takes here.
  const settings = { ...rest, args: ["--repl-diskless-sync-delay", "0", ...args] };
  let primary: TestRedis;
  try {
    primary = await startRedis(settings);
    nodes.push(primary);
    for (let at = 0; at < replicas; at++) nodes.push(await startRedis(settings));
    await Promise.all(nodes.slice(1).map((node) => follow(node, primary)));
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    nodes,
    get primary() {
      return primary;
    },
    get replicas() {
      return nodes.filter((node) => node !== primary);
    },
    async caughtUp() {
      await waitUntil(() => replicasHaveAll(primary.port), {
        what: "the replicas have all that the primary has",
      });
    },
    async promote(node) {
      await askRedis(node.port, ["REPLICAOF", "NO", "ONE"]);
      primary = node;
      for (const other of nodes) {
        if (other !== node && (await redisRole(other.port)) !== undefined) await follow(other, node);
      }
    },
    stop,
  };
}

async function follow(node: TestRedis, primary: TestRedis): Promise<void> {
  await askRedis(node.port, ["REPLICAOF", "127.0.0.1", primary.port]);
  await waitUntil(async () => (await info(node.port)).get("master_link_status") === "up", {
    what: `the replica on port ${node.port} follows the primary on port ${primary.port}`,
    timeoutMs: 15_000,
  });
}

/** What a node says it is; undefined when it can't be reached. */
export async function redisRole(port: number): Promise<"master" | "slave" | undefined> {
  try {
    return (await info(port)).get("role") as "master" | "slave";
  } catch {
    return undefined;
  }
}

async function replicasHaveAll(port: number): Promise<boolean> {
  const fields = await info(port);
  const offset = fields.get("master_repl_offset");
  const replicas = [...fields].filter(([name]) => /^slave\d+$/.test(name)).map(([, value]) => value);
  return replicas.length > 0 && replicas.every((value) => value.includes(`offset=${offset},`));
}

async function info(port: number): Promise<ReadonlyMap<string, string>> {
  const text = String(await askRedis(port, ["INFO", "replication"]));
  return new Map(
    text.split(/\r?\n/).flatMap((line): [string, string][] => {
      const at = line.indexOf(":");
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : [];
    }),
  );
}
