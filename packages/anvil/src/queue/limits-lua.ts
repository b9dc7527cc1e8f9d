/** Entries of a full list that one call looks at: bounds how long Redis is held. */
const LOOKS = 100;

/**
 * In front of BullMQ's add script, for a source with limits: checking, counting and adding are one step, so that
 * no crash can leave an event that counts and isn't there, and no race lets one in too many. An event that is known
 * passes by: its job is named, and costs nothing. A refusal leaves nothing behind that a redelivery would meet.
 *
 * The rate is GCRA, one key: the time at which everything accepted so far would have come at an even pace. It is
 * Redis's clock. The list holds those that were accepted under the limit, the newest first. It is looked through
 * only when it is full, from the oldest on; whatever goes on waiting is moved to the front by one command, since a
 * Redis that is full takes the half of two that removes and refuses the half that adds.
 */
export const limitsLua: string = `
-- KEYS[1..9] as in BullMQ's addStandardJob, then 10 deduplication key, 11 the source's rate, 12 the source's list
-- ARGV[1..3] as there, then 4 job id, 5 prefix of jobs, 6 microseconds for one event or 0, 7 burst, 8 waiting or 0
if redis.call('EXISTS', KEYS[10], ARGV[5] .. ARGV[4]) == 0 then
  local interval, burst, most = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
  if most > 0 then
    local length, looks = redis.call('LLEN', KEYS[12]), 0
    while length >= most and looks < ${LOOKS} do
      looks = looks + 1
      local job = ARGV[5] .. redis.call('LINDEX', KEYS[12], -1)
      if redis.call('EXISTS', job) == 1 and redis.call('HEXISTS', job, 'finishedOn') == 0 then
        redis.call('RPOPLPUSH', KEYS[12], KEYS[12])
      else
        redis.call('RPOP', KEYS[12])
        length = length - 1
      end
    end
    if length >= most then return 'refused:queue_full' end
  end
  if interval > 0 then
    local time = redis.call('TIME')
    local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
    local kept = tonumber(redis.call('GET', KEYS[11])) or now
    -- Further ahead than a whole burst is a clock that was put back since: that must not shut the source out.
    if kept > now + burst * interval + 1000000 then kept = now end
    local due = math.max(kept, now) + interval
    local early = due - burst * interval - now
    if early > 0 then return 'refused:rate_limited:' .. string.format('%.0f', math.ceil(early / 1000000)) end
    redis.call('SET', KEYS[11], string.format('%.3f', due), 'PX', string.format('%.0f', math.ceil((due - now) / 1000)))
  end
  if most > 0 then redis.call('LPUSH', KEYS[12], ARGV[4]) end
end
`;
