import { STALLED_MESSAGE } from "../contract/dead-letter.ts";
import { UNREADABLE_MESSAGE } from "../contract/envelope.ts";

/**
 * Moves one job that failed for good from the main queue to the dead letters, in one step: nobody ever sees it
 * in both or in neither. Running it again does nothing. It relies on the job hash, the `failed` set, and the
 * fields finishedOn, failedReason, stacktrace and atm of BullMQ 6.7 (held by a conformance test).
 *
 * The failure context is a field of its own, and is added to the job's data as well, so that any BullMQ tool
 * shows it; the replay takes exactly that suffix off again. Whatever isn't our JSON stays as it is.
 */
export const buryFunctionLua: string = `
local function reasonFor(failedReason, stacktrace, attempts, opts)
  if failedReason == '${STALLED_MESSAGE}' then return 'stalled' end
  if string.sub(failedReason, 1, ${UNREADABLE_MESSAGE.length}) == '${UNREADABLE_MESSAGE}' then return 'unreadable' end
  local gotTraces, traces = pcall(cjson.decode, stacktrace)
  if gotTraces and type(traces) == 'table' and #traces > 0
    and string.sub(tostring(traces[#traces]), 1, 13) == 'Unrecoverable' then
    return 'unrecoverable'
  end
  local gotOpts, decoded = pcall(cjson.decode, opts)
  local allowed = gotOpts and type(decoded) == 'table' and tonumber(decoded['attempts']) or 1
  return attempts >= allowed and 'exhausted' or 'unrecoverable'
end

-- 1 buried, 0 not in failed, -1 its hash is gone, -2 in failed but not finished, -3 already a dead letter
local function bury(mainPrefix, deadPrefix, id)
  local failedKey = mainPrefix .. 'failed'
  if not redis.call('ZSCORE', failedKey, id) then return 0 end
  local job = mainPrefix .. id
  if redis.call('EXISTS', job) == 0 then
    redis.call('ZREM', failedKey, id)
    return -1
  end
  local fields = redis.call('HMGET', job, 'finishedOn', 'failedReason', 'stacktrace', 'atm', 'opts', 'data', 'replays')
  local finishedOn = fields[1]
  if not finishedOn then return -2 end
  local dead = deadPrefix .. id
  if redis.call('EXISTS', dead) == 1 then return -3 end

  local attempts = tonumber(fields[4]) or 0
  local lastError = fields[2] or ''
  local context = cjson.encode({
    attempts = attempts,
    lastError = lastError,
    reason = reasonFor(lastError, fields[3] or '', attempts, fields[5] or ''),
    failedAt = tonumber(finishedOn),
    replays = tonumber(fields[7]) or 0,
  })
  redis.call('HSET', job, 'failureContext', context)
  local data = fields[6] or ''
  if #data > 2 and string.sub(data, 1, 1) == '{' and string.sub(data, -1) == '}' then
    redis.call('HSET', job, 'data', string.sub(data, 1, -2) .. ',"failureContext":' .. context .. '}')
  end

  redis.call('RENAME', job, dead)
  if redis.call('EXISTS', job .. ':logs') == 1 then redis.call('RENAME', job .. ':logs', dead .. ':logs') end
  redis.call('ZADD', deadPrefix .. 'failed', finishedOn, id)
  redis.call('ZREM', failedKey, id)
  redis.call('XADD', deadPrefix .. 'events', 'MAXLEN', '~', 1000, '*',
    'event', 'failed', 'jobId', id, 'failedReason', lastError, 'prev', 'active')
  return 1
end
`;
