import { randomUUID } from "node:crypto";
import { UNREADABLE_MESSAGE } from "../contract/envelope.ts";
import { BY_DASHBOARD, type ReplayRecord, replayRecord } from "../contract/replay-record.ts";
import { buryFunctionLua } from "./bury-lua.ts";
import { type QueuePlace, queueKeys } from "./queue-place.ts";
import type { RedisClient } from "./redis-clients.ts";
import { runScript, script } from "./run-script.ts";
import { retryUnfinished, unbury } from "./unbury.ts";

/** Jobs looked at in one script run: bounds how long Redis is held. */
const BATCH = 100;

const sweepScript = script(`${buryFunctionLua}
local mainPrefix, deadPrefix, now = ARGV[1], ARGV[2], ARGV[3]

local function readable(job)
  for _, field in ipairs({ 'opts', 'progress', 'parent' }) do
    local text = redis.call('HGET', job, field)
    if text then
      local parsed, value = pcall(cjson.decode, text)
      if not parsed or (field == 'opts' and type(value) ~= 'table') then return false end
    end
  end
  return true
end

-- BullMQ has given these up (defa), but fails to read them and so can't fail them: they would stall for ever.
for _, id in ipairs(redis.call('LRANGE', mainPrefix .. 'active', 0, ${BATCH - 1})) do
  local job = mainPrefix .. id
  if redis.call('HEXISTS', job, 'defa') == 1 and redis.call('EXISTS', job .. ':lock') == 0 and not readable(job) then
    redis.call('LREM', mainPrefix .. 'active', 0, id)
    redis.call('SREM', mainPrefix .. 'stalled', id)
    redis.call('HSET', job, 'finishedOn', now, 'failedReason', '${UNREADABLE_MESSAGE}a field of it is damaged')
    redis.call('ZADD', mainPrefix .. 'failed', now, id)
  end
end

-- "Retry" in a BullMQ dashboard moves a letter to the dead queue's waiting list, where no worker looks.
local askedFor = redis.call('LRANGE', deadPrefix .. 'wait', 0, ${BATCH - 1})
for _, id in ipairs(askedFor) do
  redis.call('LREM', deadPrefix .. 'wait', 0, id)
  if redis.call('EXISTS', deadPrefix .. id) == 1 then redis.call('ZADD', deadPrefix .. 'failed', now, id) end
end

local ids = redis.call('ZRANGE', mainPrefix .. 'failed', 0, ${BATCH - 1})
local buried, unfinished = 0, {}
for _, id in ipairs(ids) do
  local result = bury(mainPrefix, deadPrefix, id)
  if result == 1 then buried = buried + 1
  elseif result == -2 then table.insert(unfinished, id) end
end
return { #ids, buried, unfinished, askedFor }
`);

export type Swept = {
  readonly buried: number;
  /** Put back to work: unfinished jobs, and letters for which somebody pressed "retry" in another tool. */
  readonly retried: number;
};

/**
 * Buries every job that failed for good and that no worker lived to bury: BullMQ's `failed` set is the source
 * of truth, not an event that may be missed. Finishes what others began in the dead-letter queue: a retry there is
 * a person's wish, and becomes a replay. Any number of sweepers may run at once.
 * @param replayed told of each such replay when it happened, for its audit line
 */
export async function sweep(
  client: RedisClient,
  place: QueuePlace,
  replayed: (jobId: string, record: ReplayRecord) => void = () => {},
): Promise<Swept> {
  const { main, dead } = queueKeys(place);
  const total = { buried: 0, retried: 0 };
  for (;;) {
    const keys = [main("failed"), dead("failed"), dead("events")];
    const reply = await runScript(client, sweepScript, keys, [main(""), dead(""), Date.now()]);
    const [seen, buried, unfinished, askedFor] = reply as [number, number, string[], string[]];
    total.buried += buried;
    for (const jobId of unfinished) {
      await retryUnfinished(client, place, jobId);
      total.retried += 1;
    }
    for (const jobId of askedFor) {
      const record = replayRecord(BY_DASHBOARD, Date.now());
      const result = await unbury(client, place, jobId, randomUUID(), record);
      if (result !== "replayed") continue;
      total.retried += 1;
      replayed(jobId, record);
    }
    // What is left can't be moved (an id that is taken); going round again would find it again.
    if (seen < BATCH || buried + unfinished.length === 0) return total;
  }
}
