import { reprocessJobLua } from "./bullmq-scripts.ts";
import { type QueuePlace, queueKeys } from "./queue-place.ts";
import type { RedisClient } from "./redis-clients.ts";
import { runScript, type ScriptClient, script } from "./run-script.ts";

/** Failures before the last replays that a letter remembers. */
const HISTORY_LENGTH = 20;

/**
 * In front of BullMQ's own retry script, so that leaving the dead letters and entering the queue are one step:
 * there is no moment in between for a crash or a second replay. Takes off what `bury` put on, counts the
 * replay, keeps the failure as history, and clears the stall count, which BullMQ's retry doesn't.
 */
const takeBackLua = `
-- KEYS[1..9] as in BullMQ's reprocessJob, then 10 dead failed, 11 dead job, 12 dead logs, 13 job logs
do
  local id = ARGV[1]
  if not redis.call('ZSCORE', KEYS[10], id) or redis.call('EXISTS', KEYS[11]) == 0 then
    redis.call('ZREM', KEYS[10], id)
    if redis.call('EXISTS', KEYS[1]) == 0 then return -10 end
    -- Asked again after a lost answer: it was this very call that replayed it.
    if redis.call('HGET', KEYS[1], 'replayToken') == ARGV[7] then return 1 end
    return -11
  end
  -- The same after it was replayed and has failed again by now: one call replays once.
  if redis.call('HGET', KEYS[11], 'replayToken') == ARGV[7] then return 1 end
  if redis.call('EXISTS', KEYS[1]) == 1 then return -12 end

  local fields = redis.call('HMGET', KEYS[11], 'failureContext', 'data', 'failures')
  local context = fields[1]
  if context then
    local suffix = ',"failureContext":' .. context .. '}'
    local data = fields[2] or ''
    if string.sub(data, -#suffix) == suffix then
      redis.call('HSET', KEYS[11], 'data', string.sub(data, 1, -#suffix - 1) .. '}')
    end
    local got, failures = pcall(cjson.decode, fields[3] or '[]')
    if not got or type(failures) ~= 'table' then failures = {} end
    local readable, failure = pcall(cjson.decode, context)
    if readable then table.insert(failures, failure) end
    while #failures > ${HISTORY_LENGTH} do table.remove(failures, 1) end
    if #failures > 0 then redis.call('HSET', KEYS[11], 'failures', cjson.encode(failures)) end
  end
  redis.call('HDEL', KEYS[11], 'failureContext', 'stc')
  redis.call('HINCRBY', KEYS[11], 'replays', 1)
  redis.call('HSET', KEYS[11], 'replayToken', ARGV[7])
  redis.call('RENAME', KEYS[11], KEYS[1])
  if redis.call('EXISTS', KEYS[12]) == 1 then redis.call('RENAME', KEYS[12], KEYS[13]) end
  redis.call('ZREM', KEYS[10], id)
  redis.call('ZADD', KEYS[3], 0, id)
end
`;

const unburyScript = script(`${takeBackLua}\n${reprocessJobLua}`);
const retryScript = script(reprocessJobLua);

export type UnburyResult = "replayed" | "not_found" | "not_dead" | "id_taken";

const RESULTS: Readonly<Record<string, UnburyResult>> = {
  "1": "replayed",
  "-10": "not_found",
  "-11": "not_dead",
  "-12": "id_taken",
};

/**
 * Puts a dead letter back into the queue with its full schedule. Of two at once, one says `replayed`.
 * @param token tells this call from any other, so that it can be run again after a lost answer
 */
export async function unbury(
  client: ScriptClient,
  place: QueuePlace,
  jobId: string,
  token: string,
): Promise<UnburyResult> {
  const { main, dead } = queueKeys(place);
  const keys = [
    ...retryKeys(place, jobId),
    dead("failed"),
    dead(jobId),
    dead(`${jobId}:logs`),
    main(`${jobId}:logs`),
  ];
  const code = await runScript(client, unburyScript, keys, [...retryArguments(jobId), token]);
  return RESULTS[String(code)] as UnburyResult;
}

/** Puts a job that stands in the `failed` set without being finished back to work. */
export async function retryUnfinished(client: RedisClient, place: QueuePlace, jobId: string): Promise<void> {
  await runScript(client, retryScript, retryKeys(place, jobId), retryArguments(jobId));
}

function retryKeys(place: QueuePlace, jobId: string): string[] {
  const { main } = queueKeys(place);
  return [jobId, "events", "failed", "wait", "meta", "active", "marker", "prioritized", "pc"].map(main);
}

/** As `job.retry("failed", { resetAttemptsMade: true, resetAttemptsStarted: true })` sends them. */
function retryArguments(jobId: string): string[] {
  return [jobId, "LPUSH", "failedReason", "failed", "1", "1"];
}
