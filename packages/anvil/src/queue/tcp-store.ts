import type { Connection } from "./connection.ts";
import type { DurabilityWait } from "./durability.ts";
import { enqueue } from "./enqueue.ts";
import { enqueueAll } from "./enqueue-all.ts";
import type { EventStore } from "./event-store.ts";
import { evictionWarnings } from "./fitness.ts";
import { isDead } from "./inspect.ts";
import { type QueuePlace, queueKeys } from "./queue-place.ts";
import { unbury } from "./unbury.ts";

/**
 * The event store over a connection that is kept: one Redis, a cluster, with TLS or without.
 * @param wait for durability beyond memory
 */
export function tcpStore(connection: Connection, place: QueuePlace, wait?: DurabilityWait): EventStore {
  return {
    enqueue: (deadline, job) => connection.run(deadline, (client) => enqueue(client, place, job)),
    enqueueAll: (deadline, jobs) => connection.run(deadline, (client) => enqueueAll(client, place, jobs)),
    confirm: async (deadline, event) => wait?.confirm(deadline, event),
    isDead: (deadline, jobId) => connection.run(deadline, (client) => isDead(client, place, jobId)),
    unbury: (deadline, jobId, token, record) =>
      connection.run(deadline, (client) => unbury(client, place, jobId, token, record)),
    async probe(deadline) {
      const key = queueKeys(place).main("ready-probe");
      await connection.run(deadline, (client) => client.set(key, 1, "PX", 1000));
      await wait?.confirm(deadline);
    },
    // Of the client itself, without another try: a node of a cluster that is away says nothing about the others.
    warnings: (deadline) =>
      deadline.race(evictionWarnings(connection.client), () => new Error("in vain")).catch(() => []),
    checkDurability: async (deadline) => wait?.check(deadline),
    async close() {
      await Promise.all([connection.close(), wait?.close()]);
    },
  };
}
