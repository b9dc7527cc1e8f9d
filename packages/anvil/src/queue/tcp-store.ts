import type { Connection } from "./connection.ts";
import { enqueue } from "./enqueue.ts";
import type { EventStore } from "./event-store.ts";
import { isDead } from "./inspect.ts";
import { type QueuePlace, queueKeys } from "./queue-place.ts";
import { unbury } from "./unbury.ts";

/** The event store over a connection that is kept: one Redis, a cluster, with TLS or without. */
export function tcpStore(connection: Connection, place: QueuePlace): EventStore {
  return {
    enqueue: (deadline, job) => connection.run(deadline, (client) => enqueue(client, place, job)),
    isDead: (deadline, jobId) => connection.run(deadline, (client) => isDead(client, place, jobId)),
    unbury: (deadline, jobId, token) =>
      connection.run(deadline, (client) => unbury(client, place, jobId, token)),
    async probe(deadline) {
      const key = queueKeys(place).main("ready-probe");
      await connection.run(deadline, (client) => client.set(key, 1, "PX", 1000));
    },
    close: () => connection.close(),
  };
}
