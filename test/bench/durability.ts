// npm run bench:durability
//
// What each durability costs: the time to a 202 and events for each second, 50 deliveries at a time over HTTP, with
// Redis, its replica, the ingress and the sender on this one machine. Needs a server with WAITAOF.

import { createHmac, randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { cpus } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { askRedis } from "anvil-bootstrap/redis-probe";
import { startRedisServer } from "anvil-bootstrap/redis-server";
import type { Durability } from "webhook-anvil";
import { silentLog } from "webhook-anvil/config";
import { createServer } from "webhook-anvil/ingress";
import { listen } from "webhook-anvil/node";
import { findServerWithWaitaof } from "../../packages/testkit/src/newer-server.ts";
import { temporaryFolder } from "../../packages/testkit/src/temporary-folder.ts";

const CONCURRENT = 50;
const ROUNDS = 6;
const WARM_UP_MS = 500;
const MEASURED_MS = 2_500;
const SECRET = "made-up-secret-of-the-bench";

const found = await findServerWithWaitaof();
if ("missing" in found) {
  console.error(found.missing);
  process.exit(1);
}
const { server } = found;
const contenders: readonly { name: string; durability: Durability; args: readonly string[] }[] = [
  { name: "memory", durability: "memory", args: ["--appendfsync", "everysec"] },
  { name: "replica", durability: "replica", args: ["--appendfsync", "everysec"] },
  { name: "disk, everysec", durability: "disk", args: ["--appendfsync", "everysec"] },
  { name: "disk, always", durability: "disk", args: ["--appendfsync", "always"] },
];
const folder = await temporaryFolder("bench-durability");
try {
  const best: Record<string, Awaited<ReturnType<typeof measure>>> = {};
  for (let round = 0; round < ROUNDS; round++) {
    // In turns, and the best round of each: what else this machine does meets all of them, and counts for none.
    for (const contender of contenders) {
      const measured = await measure(contender, round);
      const before = best[contender.name];
      if (!before || measured["events/s"] > before["events/s"]) best[contender.name] = measured;
    }
  }
  console.log(
    `${CONCURRENT} at a time, ${cpus().length} cores, Node ${process.versions.node}, best of ${ROUNDS}`,
  );
  console.table(best);
} finally {
  await folder.remove();
}

async function measure({ name, durability, args }: (typeof contenders)[number], round: number) {
  const dir = (which: string) => join(folder.path, `${name.replace(/\W+/g, "-")}-${round}`, which);
  const redis = await startRedisServer({ server, dir: dir("primary"), appendonly: true, args });
  const replicaOf = ["--replicaof", "127.0.0.1", String(redis.port)];
  const replica =
    durability === "replica"
      ? await startRedisServer({ server, dir: dir("replica"), args: replicaOf })
      : undefined;
  while (
    replica &&
    !String(await askRedis(replica.port, ["INFO", "replication"])).includes("link_status:up")
  ) {
    await delay(20);
  }
  const app = createServer({ secret: SECRET, redis: redis.url, durability, log: silentLog });
  await app.checkDurability();
  const served = await listen(app, { host: "127.0.0.1", port: 0 });
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENT });
  try {
    const times: number[] = [];
    const from = performance.now() + WARM_UP_MS;
    const until = from + MEASURED_MS;
    await Promise.all(
      Array.from({ length: CONCURRENT }, async () => {
        for (let now = performance.now(); now < until; now = performance.now()) {
          const status = await deliver(`http://${served.boundTo}/webhooks`, agent);
          if (status !== 202) throw new Error(`${name}: answered ${status}`);
          const end = performance.now();
          if (now >= from && end <= until) times.push(end - now);
        }
      }),
    );
    times.sort((a, b) => a - b);
    const quantile = (part: number) => Number((times[Math.floor(times.length * part)] ?? 0).toFixed(1));
    return {
      "p50 ms": quantile(0.5),
      "p99 ms": quantile(0.99),
      "events/s": Math.round(times.length / (MEASURED_MS / 1_000)),
    };
  } finally {
    agent.destroy();
    await served.close(1_000);
    await app.close();
    await Promise.all([redis.stop(), replica?.stop()]);
  }
}

/** About 1 KB, as webhooks are. */
function deliver(url: string, agent: Agent): Promise<number> {
  const body = JSON.stringify({ id: randomUUID(), type: "bench.event", text: "x".repeat(950) });
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-signature": createHmac("sha256", SECRET).update(body).digest("hex"),
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: "POST", agent, headers }, (incoming) => {
      incoming.resume().once("end", () => resolve(incoming.statusCode ?? 0));
    });
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}
