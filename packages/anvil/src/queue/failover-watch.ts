import { Redis } from "ioredis";
import type { RedisAddress } from "./redis-target.ts";

/** Between two tries at a sentinel that is away; the others tell meanwhile. */
const RETRY_MS = 5_000;

/**
 * Leaves a primary when the sentinels have named another, and so connects to that one. Without it an idle connection
 * to a primary that hung would stay on it, and write to it once it is back and not yet demoted: such writes are lost.
 *
 * ioredis's own `failoverDetector` (6.0) does the same, and ends the client for good when it is told while the client
 * is already on its way to the new primary.
 */
export function leaveOnFailover(client: Redis, address: RedisAddress): void {
  const { sentinel } = address;
  if (!sentinel) return;
  let watchers: Redis[] = [];
  let lastSwitch = "";

  const told = (text: string) => {
    // `<name> <old host> <old port> <new host> <new port>`, the same from each sentinel: once is enough.
    if (text.split(" ")[0] !== sentinel.name || text === lastSwitch) return;
    lastSwitch = text;
    if (client.status === "ready") client.disconnect(true);
  };
  client.on("ready", () => {
    if (watchers.length > 0) return;
    watchers = address.nodes.map((node) => watcher(node, address, told));
  });
  const stop = () => {
    for (const each of watchers) each.disconnect();
    watchers = [];
  };
  client.on("end", stop);
  // Disconnected between two connections it ends without that event.
  const disconnect = client.disconnect.bind(client);
  client.disconnect = (reconnect = false) => {
    if (!reconnect) stop();
    disconnect(reconnect);
  };
}

function watcher(
  node: { readonly host: string; readonly port: number },
  { auth, sentinel }: RedisAddress,
  told: (text: string) => void,
): Redis {
  const client = new Redis({
    ...node,
    ...(auth.family ? { family: auth.family } : {}),
    ...(sentinel?.sentinelUsername ? { username: sentinel.sentinelUsername } : {}),
    ...(sentinel?.sentinelPassword ? { password: sentinel.sentinelPassword } : {}),
    ...(sentinel?.sentinelTLS ? { tls: sentinel.sentinelTLS } : {}),
    connectionName: "anvil-failover-watch",
    protocol: 2,
    disableClientInfo: true,
    enableReadyCheck: false,
    keepAlive: 10_000,
    maxRetriesPerRequest: null,
    retryStrategy: () => RETRY_MS,
  });
  // A sentinel that is away is no trouble of ours as long as there is another, and who connects will say so.
  client.on("error", () => {});
  client.on("message", (_channel, text) => told(text));
  void client.subscribe("+switch-master").catch(() => {});
  return client;
}
