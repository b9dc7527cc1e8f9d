import { addJob, type Enqueued, type NewJob } from "./enqueue.ts";
import type { QueuePlace } from "./queue-place.ts";
import { runTogether, type ScriptClient } from "./run-script.ts";

/**
 * Stores several jobs in one transaction, each unless its event is known: nobody ever sees some of them. Running it
 * twice is harmless, as for one.
 * @throws {LimitReached} when the source's limit refuses one of them. Those before it are stored then, and are found
 *   when the delivery comes again
 */
export async function enqueueAll(
  client: ScriptClient,
  place: QueuePlace,
  jobs: readonly NewJob[],
): Promise<Enqueued[]> {
  const adds = jobs.map((job) => addJob(place, job));
  const replies = await runTogether(
    client,
    adds.map(({ call }) => call),
  );
  if (replies.length !== jobs.length) throw new Error("the transaction has another number of answers");
  return adds.map(({ read }, index) => read(replies[index]));
}
