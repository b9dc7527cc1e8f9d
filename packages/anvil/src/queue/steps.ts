import { type QueuePlace, queueKeys } from "./queue-place.ts";
import type { RedisClient } from "./redis-clients.ts";
import { runScript, script } from "./run-script.ts";

/**
 * Results of a job's steps lie in its own hash, so they go with it through retries, stalls, burial and replay, and
 * end with it. The field is written by whoever holds the job's lock, and by nobody else: a worker that was stopped
 * for longer than its lock can't put its late result over another's.
 *
 * KEYS: job, lock. ARGV: field, value, token. Returns the value that stands there now, or false.
 */
const storeScript = script(`
if redis.call('GET', KEYS[2]) ~= ARGV[3] then return false end
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[1], ARGV[1])
`);

const field = (name: string): string => `step:${name}`;

/** The stored result of a step, as text; undefined when it hasn't been stored. */
export async function readStep(
  client: RedisClient,
  place: QueuePlace,
  jobId: string,
  name: string,
): Promise<string | undefined> {
  return (await client.hget(queueKeys(place).main(jobId), field(name))) ?? undefined;
}

/**
 * Stores a step's result, unless there is one.
 * @param token of the lock under which the job runs here
 * @returns what is stored now; undefined when the lock is somebody else's
 */
export async function storeStep(
  client: RedisClient,
  place: QueuePlace,
  jobId: string,
  token: string,
  step: { readonly name: string; readonly result: string },
): Promise<string | undefined> {
  const job = queueKeys(place).main(jobId);
  const stored = await runScript(
    client,
    storeScript,
    [job, `${job}:lock`],
    [field(step.name), step.result, token],
  );
  return typeof stored === "string" ? stored : undefined;
}
