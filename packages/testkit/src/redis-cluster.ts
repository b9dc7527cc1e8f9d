import { askRedis } from "anvil-bootstrap/redis-probe";
import { atTestEnd } from "./at-test-end.ts";
import { startRedis, type TestRedis } from "./redis.ts";
import { waitUntil } from "./wait-until.ts";

const SLOTS = 16_384;
const MASTERS = 3;

export interface TestRedisCluster {
  readonly nodes: readonly TestRedis[];
  /** One for each master, in the order of their slots. */
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

/** Three masters without replicas that share the slots. Needs Redis 7 (or Valkey) on this machine, not Docker. */
export async function startRedisCluster(): Promise<TestRedisCluster> {
  const nodes: TestRedis[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  atTestEnd(stop);
  try {
    for (let at = 0; at < MASTERS; at++) nodes.push(await startNode(at));
    await join(nodes);
  } catch (error) {
    await stop();
    throw error;
  }
  return { nodes, urls: nodes.map(({ url }) => url), stop };
}

async function startNode(at: number): Promise<TestRedis> {
  const node = await startRedis({
    args: [
      "--cluster-enabled",
      "yes",
      "--cluster-node-timeout",
      "2000",
      "--cluster-config-file",
      "nodes.conf",
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
