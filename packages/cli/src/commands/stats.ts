import { type QueueStats, queueStats } from "webhook-anvil/queue";
import type { Context } from "../context.ts";
import { tableLines } from "../output/table.ts";
import { roughly } from "../output/time.ts";
import { withRedis } from "../redis-session.ts";
import { type PlaceOptions, queuePlace } from "../settings/queue-place.ts";

export type StatsOptions = PlaceOptions & { readonly json?: boolean };

/** How many jobs are where. */
export async function stats(context: Context, options: StatsOptions): Promise<number> {
  const { env, stdout } = context;
  const place = await queuePlace(options, context);
  const counts = await withRedis(env, (redis) =>
    redis.run((client) => queueStats(client, place, Date.now())),
  );
  if (options.json) {
    stdout.json({ queue: place.queue, prefix: place.prefix, ...counts });
    return 0;
  }
  stdout.line(`Queue ${place.queue} at prefix ${place.prefix}`);
  for (const line of tableLines([{}, { align: "right" }, {}], rows(counts))) stdout.line(line);
  if (counts.dead > 0) stdout.line(`\nLook at the dead letters: npx anvil dead list${place.asOptions}`);
  return 0;
}

function rows(counts: QueueStats): string[][] {
  const { waiting, active, delayed, completed, unburied, dead, oldestWaitingMs } = counts;
  return [
    [
      "  waiting",
      String(waiting),
      waiting > 0 ? `for a worker, the oldest for ${roughly(oldestWaitingMs)}` : "for a worker",
    ],
    ["  active", String(active), "a worker runs them"],
    ["  delayed", String(delayed), "failed, and wait for their next retry"],
    ["  completed", String(completed), "handled, and kept for a while"],
    ["  unburied", String(unburied), "failed for good, and not yet dead letters"],
    ["  dead", String(dead), "dead letters: failed for good, and wait for you"],
  ];
}
