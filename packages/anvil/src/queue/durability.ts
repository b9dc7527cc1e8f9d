import type { Durability } from "../contract/config.ts";
import { AnvilError, ConfigError } from "../contract/errors.ts";
import type { Log } from "../contract/log.ts";
import type { Connection } from "./connection.ts";
import type { Deadline } from "./deadline.ts";
import { cannotWait, serverName } from "./durability-support.ts";
import { inGroups } from "./group-commit.ts";
import type { QueuePlace } from "./queue-place.ts";
import { waitForStored } from "./wait-for-stored.ts";

/** What `enqueue` answered: the job under which the event of this deduplication key is stored. */
export type StoredEvent = { readonly key: string; readonly jobId: string };

/** Waits until what was stored would survive more than the end of one process. */
export type DurabilityWait = {
  /**
   * Settles once the event, and everything that Redis did before this call, is on a replica or on disk.
   * Without an event: whether that works at all.
   * @throws {AnvilError} `redis_unavailable` when it isn't so by the deadline
   */
  confirm(deadline: Deadline, event?: StoredEvent): Promise<void>;
  /**
   * Tries it once. What may pass (no Redis yet, no replica yet) is a warning in the log.
   * @throws {ConfigError} when the server can't do it as it is set up
   */
  check(deadline: Deadline): Promise<void>;
  close(): Promise<void>;
};

/**
 * @param connection of its own, since WAIT blocks it; a socket of it may be silent for as long as a deadline
 */
export function durabilityWait(
  connection: Connection,
  place: QueuePlace,
  durability: Exclude<Durability, "memory">,
  log: Log,
): DurabilityWait {
  const { where } = connection;
  const unavailable = (what: string) => new AnvilError("redis_unavailable", `Redis at ${where} ${what}`);
  const unconfirmed = () =>
    unavailable(
      durability === "replica"
        ? 'has the event, but no replica acknowledged it in time (durability "replica" needs one that is connected)'
        : 'has the event, but did not confirm that it is on disk in time (durability "disk")',
    );
  const wait = (deadline: Deadline, keys: readonly string[]) =>
    connection.run(deadline, (client) => waitForStored(client, place, durability, keys, deadline));

  const confirm = inGroups<StoredEvent | undefined>(async (deadline, events) => {
    const waited = await wait(
      deadline,
      events.flatMap((event) => (event ? [event.key] : [])),
    );
    if ("refused" in waited) throw unavailable(cannotWait(durability, waited.refused, where));
    return (event) => {
      if (!waited.reached) return unconfirmed();
      if (event === undefined || waited.jobIds.get(event.key) === event.jobId) return undefined;
      return unavailable("no longer has the event that was stored: was there a failover?");
    };
  }, unconfirmed);

  return {
    confirm,
    async check(deadline) {
      try {
        const waited = await wait(deadline, []);
        if ("refused" in waited) {
          const name = await connection.run(deadline, serverName);
          throw new ConfigError([
            cannotWait(durability, waited.refused, name ? `${where}, ${name},` : where),
          ]);
        }
        if (!waited.reached) {
          log.warn(
            { redis: where, durability },
            durability === "replica"
              ? "no replica acknowledges: every delivery is answered 503 until one is connected"
              : "Redis did not confirm a write to disk in time: deliveries may be answered 503",
          );
        }
      } catch (error) {
        if (!(error instanceof AnvilError) || error.code !== "redis_unavailable") throw error;
        log.warn({ redis: where, durability, reason: error.message }, "durability not checked");
      }
    },
    close: () => connection.close(),
  };
}
