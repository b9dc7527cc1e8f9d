import { Cluster, Redis } from "ioredis";
import type { RedisAddress } from "./redis-target.ts";
import { replyCode } from "./reply-code.ts";

export type RedisClient = Redis | Cluster;

/**
 * A client for whoever has to answer inside a deadline (ingress, CLI, replay). It never queues a command
 * while there is no connection and never repeats one by itself; a socket that owes an answer and stays silent
 * for half of the deadline is closed, so that there is time for another. Connecting may take all of it: from far
 * away TLS alone is two round trips. Nothing is asked beside password and name, which go together: no ready check
 * (LOADING is an answer too) and protocol 2. So the first command on a new connection takes one round trip more
 * than the next one.
 */
export function promptClient(address: RedisAddress, deadlineMs: number, name: string): RedisClient {
  const silenceMs = Math.max(50, Math.floor(deadlineMs / 2));
  return connect(
    address,
    {
      connectionName: name,
      lazyConnect: true,
      enableReadyCheck: false,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: deadlineMs,
      socketTimeout: silenceMs,
      retryStrategy: (times) => Math.min(25 * 2 ** (times - 1), 400),
    },
    { enableOfflineQueue: false, slotsRefreshTimeout: silenceMs },
  );
}

/**
 * A client for a worker: BullMQ wants commands to wait for the connection, however long it takes. A silent
 * socket is closed here too, or a black hole would hold the worker until TCP gives up.
 */
export function patientClient(address: RedisAddress, name: string): RedisClient {
  // Connecting at once and not at the first command: a lazy ioredis gives up when its first try fails.
  return connect(
    address,
    {
      connectionName: name,
      lazyConnect: false,
      maxRetriesPerRequest: null,
      connectTimeout: 10_000,
      // Longer than the 10 s for which BullMQ blocks at most.
      socketTimeout: 15_000,
      retryStrategy: (times) => Math.min(50 * 2 ** (times - 1), 2_000),
    },
    {},
  );
}

type TimingOptions = {
  connectionName: string;
  lazyConnect: boolean;
  maxRetriesPerRequest: number | null;
  connectTimeout: number;
  socketTimeout: number;
  retryStrategy: (times: number) => number;
  enableReadyCheck?: boolean;
  enableOfflineQueue?: boolean;
  autoResendUnfulfilledCommands?: boolean;
};

function connect(
  address: RedisAddress,
  options: TimingOptions,
  clusterOptions: { enableOfflineQueue?: boolean; slotsRefreshTimeout?: number },
): RedisClient {
  const redisOptions = {
    ...address.auth,
    ...options,
    protocol: 2 as const,
    disableClientInfo: true,
    keepAlive: 10_000,
    // After a failover the old primary answers READONLY for as long as the connection lives. Redis before 7 says
    // so in the middle of the text when it is a script that may not write.
    reconnectOnError: (error: Error) => replyCode(error) === "READONLY",
  };
  if (address.cluster) {
    // The address of a node comes from the cluster itself; with TLS the name must stay the one that the
    // certificate holds, so names aren't turned into addresses first (as AWS documents for ElastiCache).
    const { enableOfflineQueue: _, retryStrategy: __, ...nodeOptions } = redisOptions;
    return new Cluster([...address.nodes], {
      lazyConnect: options.lazyConnect,
      enableReadyCheck: options.enableReadyCheck ?? true,
      redisOptions: nodeOptions,
      dnsLookup: (host, done) => done(null, host),
      clusterRetryStrategy: (times) => Math.min(50 * times, 400),
      ...clusterOptions,
    });
  }
  const node = address.nodes[0] as { host: string; port: number };
  return new Redis({ ...redisOptions, ...node });
}
