import { type Connection, deadlineIn, type RedisClient } from "webhook-anvil/queue";
import type { Place } from "../settings/queue-place.ts";

/** On a Redis that other things live in too, going through its keys takes a while. */
const DEADLINE_MS = 10_000;

/** Removes every key of this queue and of its dead letters. For a queue that is the demo's own. */
export async function removeQueue(connection: Connection, place: Place): Promise<void> {
  await connection.run(deadlineIn(DEADLINE_MS), async (client) => {
    for (const keys of chunks(await keysOf(client, place), 500)) await client.unlink(...keys);
  });
}

/** How many jobs are stored, whatever their state, and how many deliveries would be recognised. */
export async function storedKeys(
  connection: Connection,
  place: Place,
): Promise<{ readonly jobs: number; readonly deliveries: number }> {
  const keys = await connection.run(deadlineIn(DEADLINE_MS), (client) => keysOf(client, place));
  return {
    jobs: keys.filter((key) => /:wh_[0-9a-f]{32}$/.test(key)).length,
    deliveries: keys.filter((key) => /:de:[0-9a-f]{64}$/.test(key)).length,
  };
}

async function keysOf(client: RedisClient, { prefix, queue }: Place): Promise<string[]> {
  const keys: string[] = [];
  const nodes = "nodes" in client ? client.nodes("master") : [client];
  for (const node of nodes) {
    for (const name of [queue, `${queue}.dead`]) {
      const pattern = `${prefix}:${name}:`.replace(/[\\*?[\]]/g, "\\$&");
      let cursor = "0";
      do {
        const [next, found] = await node.scan(cursor, "MATCH", `${pattern}*`, "COUNT", 1_000);
        keys.push(...found);
        cursor = next;
      } while (cursor !== "0");
    }
  }
  return [...new Set(keys)];
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
