import { askRedis } from "anvil-bootstrap/redis-probe";
import { atTestEnd } from "./at-test-end.ts";
import { type StartRedisOptions, startRedis, type TestRedis } from "./redis.ts";
import { waitUntil } from "./wait-until.ts";

const SLOTS = 16_384;
const MASTERS = 3;

export interface TestRedisCluster {
  readonly nodes: readonly TestRedis[];
  /** One for each master, in the order of their slots. */
  readonly urls: readonly string[];
  /** The node that serves a key's slot now. */
  nodeOf(key: string): Promise<TestRedis>;
  /** Moves a key's slot with all that is in it, key by key, as `redis-cli --cluster reshard` does. */
  moveSlot(key: string, to: TestRedis): Promise<void>;
  stop(): Promise<void>;
}

/** Three masters without replicas that share the slots. Needs Redis 7 (or Valkey) on this machine, not Docker. */
export async function startRedisCluster(options: StartRedisOptions = {}): Promise<TestRedisCluster> {
  const nodes: TestRedis[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  atTestEnd(stop);
  try {
    for (let at = 0; at < MASTERS; at++) nodes.push(await startNode(at, options));
    await join(nodes);
  } catch (error) {
    await stop();
    throw error;
  }
  const nodeOf = async (key: string): Promise<TestRedis> => {
    for (const node of nodes) {
      // A key of another node's slot is MOVED. A node that is down holds none now.
      const here = await askRedis(node.port, ["EXISTS", key]).then(
        () => true,
        () => false,
      );
      if (here) return node;
    }
    throw new Error(`no node that answers serves the slot of ${key}`);
  };
  return {
    nodes,
    urls: nodes.map(({ url }) => url),
    nodeOf,
    async moveSlot(key, to) {
      const from = await nodeOf(key);
      const slot = Number(await askRedis(from.port, ["CLUSTER", "KEYSLOT", key]));
      const [fromId, toId] = (await Promise.all(
        [from, to].map(async ({ port }) => String(await askRedis(port, ["CLUSTER", "MYID"]))),
      )) as [string, string];
      await askRedis(to.port, ["CLUSTER", "SETSLOT", slot, "IMPORTING", fromId]);
      await askRedis(from.port, ["CLUSTER", "SETSLOT", slot, "MIGRATING", toId]);
      for (;;) {
        const keys = await askRedis(from.port, ["CLUSTER", "GETKEYSINSLOT", slot, 100]);
        if (!Array.isArray(keys) || keys.length === 0) break;
        await askRedis(from.port, [
          "MIGRATE",
          "127.0.0.1",
          to.port,
          "",
          0,
          5_000,
          "KEYS",
          ...keys.map(String),
        ]);
      }
      // The new owner first, or there is a moment in which nobody is.
      for (const { port } of [to, from, ...nodes.filter((node) => node !== to && node !== from)]) {
        await askRedis(port, ["CLUSTER", "SETSLOT", slot, "NODE", toId]);
      }
    },
    stop,
  };
}

async function startNode(at: number, { args = [], ...options }: StartRedisOptions): Promise<TestRedis> {
  const node = await startRedis({
    ...options,
    args: [
      "--cluster-enabled",
      "yes",
      "--cluster-node-timeout",
      "2000",
      "--cluster-config-file",
      "nodes.conf",
      ...args,
    ],
  });
  const first = Math.floor((at * SLOTS) / MASTERS);
  const last = Math.floor(((at + 1) * SLOTS) / MASTERS) - 1;
  await askRedis(node.port, ["CLUSTER", "ADDSLOTSRANGE", first, last]);
  // Different epochs from the start, or the nodes spend their first seconds settling a tie.
  await askRedis(node.port, ["CLUSTER", "SET-CONFIG-EPOCH", at + 1]);
  return node;
}

async function join(nodes: readonly TestRedis[]): Promise<void> {
  const [first, ...others] = nodes;
  if (first === undefined) return;
  for (const other of others) await askRedis(first.port, ["CLUSTER", "MEET", "127.0.0.1", other.port]);
  for (const { port } of nodes) {
    await waitUntil(
      async () => {
        const info = String(await askRedis(port, ["CLUSTER", "INFO"]));
        return info.includes("cluster_state:ok") && info.includes(`cluster_known_nodes:${nodes.length}`);
      },
      { what: `the cluster node on port ${port} knows all others and says ok`, timeoutMs: 15_000 },
    );
  }
}
