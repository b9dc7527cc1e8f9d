import { ConfigError } from "../contract/errors.ts";
import type { Log } from "../contract/log.ts";
import { createConnection } from "../queue/connection.ts";
import { durabilityWait } from "../queue/durability.ts";
import type { EventStore } from "../queue/event-store.ts";
import type { QueuePlace } from "../queue/queue-place.ts";
import { restStore } from "../queue/rest-store.ts";
import { tcpStore } from "../queue/tcp-store.ts";
import type { ResolvedConfig } from "../signatures/sources.ts";
import type { ServerOptions } from "./create-server.ts";

/** Opens nothing yet: the first request does. */
export function openStore(
  options: Pick<ServerOptions, "redis" | "upstash">,
  { queue, prefix, durability }: ResolvedConfig,
  deadlineMs: number,
  log: Log,
): EventStore {
  const place: QueuePlace = { queue, prefix };
  if (options.upstash && options.redis !== undefined) {
    throw new ConfigError(["redis and upstash: give one of the two"]);
  }
  if (options.upstash && durability !== "memory") {
    throw new ConfigError([
      `durability: "${durability}" can't be had over REST, which has no WAIT; leave it out, since Upstash ` +
        "writes to disk by itself, or give redis in place of upstash",
    ]);
  }
  if (options.upstash) return restStore(options.upstash, place, deadlineMs, log);
  const target = options.redis === undefined ? {} : { redis: options.redis };
  const connection = createConnection({ ...target, name: "anvil-ingress", deadlineMs, log });
  if (durability === "memory") return tcpStore(connection, place);
  // WAIT blocks its connection, so it has one of its own, which may be silent for as long as an answer may take.
  const waiting = createConnection({
    ...target,
    ...{ name: "anvil-ingress-wait", deadlineMs, silenceMs: deadlineMs, log },
  });
  return tcpStore(connection, place, durabilityWait(waiting, place, durability, log));
}
