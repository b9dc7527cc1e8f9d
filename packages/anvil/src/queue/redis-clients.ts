import { Cluster, Redis } from "ioredis";
import { leaveOnFailover } from "./failover-watch.ts";
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
 * @param silenceMs after which a socket that owes an answer is closed, where commands may block for longer
 */
export function promptClient(
  address: RedisAddress,
  deadlineMs: number,
  name: string,
  silenceMs: number = Math.max(50, Math.floor(deadlineMs / 2)),
): RedisClient {
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
    // Two silent sentinels leave the time for a third, and for the primary.
    { sentinelCommandTimeout: Math.max(25, Math.floor(deadlineMs / 4)), connectTimeout: silenceMs },
  );
}

/**
 * A client for a worker: BullMQ wants commands to wait for the connection, however long it takes. A silent
 * socket is closed here too, or a black hole would hold the worker until TCP gives up.
 */
export function patientClient(address: RedisAddress, name: string): RedisClient {
  // Connecting at once and not at the first command: a lazy ioredis gives up when its first try fails.
  const client = connect(
    address,
    {
      connectionName: name,
      lazyConnect: false,
      maxRetriesPerRequest: null,
      connectTimeout: 10_000,
      // Well below half of a job's lock, after which that has to be renewed: a lock must outlive a dead connection.
      socketTimeout: 8_000,
      retryStrategy: (times) => Math.min(50 * 2 ** (times - 1), 2_000),
    },
    {},
    { sentinelCommandTimeout: 2_000, connectTimeout: 10_000 },
  );
  blockOnDuplicates(client, address);
  return toleratingNoInfo(client);
}

/** Where INFO is refused (an ACL, a renamed command), the oldest version that we support is assumed. */
const WITHOUT_INFO = "redis_version:6.2.0\r\n";

/** BullMQ asks INFO for the version before it starts, and wouldn't start without. */
function toleratingNoInfo<T extends RedisClient>(client: T): T {
  const info = client.info.bind(client) as (...words: unknown[]) => Promise<string>;
  client.info = (async (...words: unknown[]) => {
    // ioredis's own ready check, which knows what to do.
    if (typeof words.at(-1) === "function") return info(...words);
    try {
      return await info(...words);
    } catch (error) {
      if (!/^NOPERM|unknown command/.test((error as Error).message)) throw error;
      return WITHOUT_INFO;
    }
  }) as T["info"];
  return client;
}

/** BullMQ waits for jobs on a duplicate, where it blocks for 10 s at most: only what is longer is a silence. */
function blockOnDuplicates(client: RedisClient, address: RedisAddress): void {
  const socketTimeout = 15_000;
  if (client instanceof Cluster) {
    const duplicate = client.duplicate.bind(client);
    client.duplicate = (nodes, options) =>
      toleratingNoInfo(
        duplicate(nodes, { ...options, redisOptions: { ...options?.redisOptions, socketTimeout } }),
      );
  } else {
    const duplicate = client.duplicate.bind(client);
    client.duplicate = (options) => {
      const blocking = toleratingNoInfo(duplicate({ ...options, socketTimeout }));
      leaveOnFailover(blocking, address);
      return blocking;
    };
  }
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
  sentinelTiming: { sentinelCommandTimeout: number; connectTimeout: number },
): RedisClient {
  const redisOptions = {
    ...address.auth,
    ...options,
    protocol: 2 as const,
    disableClientInfo: true,
    keepAlive: 10_000,
    // After a failover the old primary answers READONLY for as long as the connection lives. Redis before 7 says
    // so in the middle of the text when it is a script that may not write.
    reconnectOnError: leavesReadOnly(),
  };
  if (address.cluster) {
    // The address of a node comes from the cluster itself; with TLS the name must stay the one that the
    // certificate holds, so names aren't turned into addresses first (as AWS documents for ElastiCache).
    const { enableOfflineQueue: _, retryStrategy: __, ...nodeOptions } = redisOptions;
    return new Cluster([...address.nodes], {
      lazyConnect: options.lazyConnect,
      // Of the cluster; its nodes have their own. While the cluster is partly down, ioredis 6.0 fails this check, connects
      // again, and leaves the promise of the first connect() open for ever. BullMQ 6.7 waits for that promise before it
      // blocks for jobs again, so the worker would never take another job.
      enableReadyCheck: false,
      redisOptions: nodeOptions,
      dnsLookup: (host, done) => done(null, host),
      clusterRetryStrategy: (times) => Math.min(50 * times, 400),
      ...clusterOptions,
    });
  }
  if (address.sentinel) {
    const client = new Redis({
      ...redisOptions,
      ...address.sentinel,
      ...sentinelTiming,
      sentinels: [...address.nodes],
      enableTLSForSentinelMode: address.auth.tls !== undefined,
      // For ever: without a number ioredis would end. Always the same, since its error holds it.
      sentinelRetryStrategy: () => 200,
      // How long a connection that we leave may take to say goodbye; a primary that hangs never does.
      disconnectTimeout: 100,
    });
    leaveOnFailover(client, address);
    return client;
  }
  const node = address.nodes[0] as { host: string; port: number };
  return new Redis({ ...redisOptions, ...node });
}

/** Once for all the commands that hear it together: each further time would leave a listener on the same socket. */
function leavesReadOnly(): (error: Error) => boolean {
  let leftAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (replyCode(error) !== "READONLY" || performance.now() - leftAt < 100) return false;
    leftAt = performance.now();
    return true;
  };
}
