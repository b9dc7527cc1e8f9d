import { type ReplayRecord, replayRecord } from "../contract/replay-record.ts";
import { reprocessJobLua } from "./bullmq-scripts.ts";
import { type QueuePlace, queueKeys } from "./queue-place.ts";
import type { RedisClient } from "./redis-clients.ts";
import { runScript, type ScriptClient, script } from "./run-script.ts";

/** Failures before the last replays that a letter remembers. */
const HISTORY_LENGTH = 20;

/**
 * In front of BullMQ's own retry script, so that leaving the dead letters and entering the queue are one step:
 * there is no moment in between for a crash or a second replay. Takes off what `bury` put on, counts the
 * replay, keeps the failure as history together with who replayed it and why, and clears the stall count, which
 * BullMQ's retry doesn't. Run again with the same token it changes nothing, so one replay is recorded once.
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

  local fields = redis.call('HMGET', KEYS[11], 'failureContext', 'data', 'failures', 'failedReason', 'atm',
    'finishedOn', 'replays')
  local got, failures = pcall(cjson.decode, fields[3] or '[]')
  if not got or type(failures) ~= 'table' then failures = {} end
  local readable, failure = pcall(cjson.decode, fields[1] or '')
  -- A job that another tool put here has no context; what its hash says stands in, so that the replay is recorded.
  if not readable or type(failure) ~= 'table' then
    failure = { attempts = tonumber(fields[5]) or 0, lastError = fields[4] or '', reason = 'exhausted',
      failedAt = tonumber(fields[6]) or 0, replays = tonumber(fields[7]) or 0 }
  end
  failure.replayed = cjson.decode(ARGV[8])
  table.insert(failures, failure)
  while #failures > ${HISTORY_LENGTH} do table.remove(failures, 1) end
  local history = cjson.encode(failures)

  -- Nothing was written so far, and from here on nothing fails: a script that stops halfway is not taken back.
  redis.call('HSET', KEYS[11], 'failures', history)
  if fields[1] then
    local suffix = ',"failureContext":' .. fields[1] .. '}'
    local data = fields[2] or ''
    if string.sub(data, -#suffix) == suffix then
      redis.call('HSET', KEYS[11], 'data', string.sub(data, 1, -#suffix - 1) .. '}')
    end
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
 * @param record stays with the job
 */
export async function unbury(
  client: ScriptClient,
  place: QueuePlace,
  jobId: string,
  token: string,
  record: ReplayRecord = replayRecord({}, Date.now()),
): Promise<UnburyResult> {
  const { main, dead } = queueKeys(place);
  const keys = [
    ...retryKeys(place, jobId),
    dead("failed"),
    dead(jobId),
    dead(`${jobId}:logs`),
    main(`${jobId}:logs`),
  ];
  const code = await runScript(client, unburyScript, keys, [
    ...retryArguments(jobId),
    token,
    JSON.stringify(record),
  ]);
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
