import { buryFunctionLua } from "./bury-lua.ts";
import { type QueuePlace, queueKeys } from "./queue-place.ts";
import type { RedisClient } from "./redis-clients.ts";
import { runScript, script } from "./run-script.ts";
import { retryUnfinished } from "./unbury.ts";

/** Jobs looked at in one script run: bounds how long Redis is held. */
const BATCH = 100;

const sweepScript = script(`${buryFunctionLua}
local mainPrefix, deadPrefix = ARGV[1], ARGV[2]
local ids = redis.call('ZRANGE', mainPrefix .. 'failed', 0, ${BATCH - 1})
local buried, unfinished = 0, {}
for _, id in ipairs(ids) do
  local result = bury(mainPrefix, deadPrefix, id)
  if result == 1 then buried = buried + 1
  elseif result == -2 then table.insert(unfinished, id) end
end
return { #ids, buried, unfinished }
`);

export type Swept = { readonly buried: number; readonly retried: number };

/**
 * Buries every job that failed for good and that no worker lived to bury: BullMQ's `failed` set is the source
 * of truth, not an event that may be missed. Any number of sweepers may run at once.
 */
export async function sweep(client: RedisClient, place: QueuePlace): Promise<Swept> {
  const { main, dead } = queueKeys(place);
  const total = { buried: 0, retried: 0 };
  for (;;) {
    const keys = [main("failed"), dead("failed"), dead("events")];
    const reply = await runScript(client, sweepScript, keys, [main(""), dead("")]);
    const [seen, buried, unfinished] = reply as [number, number, string[]];
    total.buried += buried;
    for (const jobId of unfinished) {
      await retryUnfinished(client, place, jobId);
      total.retried += 1;
    }
    // What is left can't be moved (an id that is taken); going round again would find it again.
    if (seen < BATCH || buried + unfinished.length === 0) return total;
  }
}
