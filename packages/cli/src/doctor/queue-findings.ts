import type { QueueStats } from "webhook-anvil/queue";
import { roughly } from "../output/time.ts";
import type { Place } from "../settings/queue-place.ts";
import { type Finding, ok, warn } from "./finding.ts";

/** Workers take a job within milliseconds; after this long none does, or too few do. */
const LONG_WAIT_MS = 60_000;

/** What the counts of a queue mean for whoever runs it. */
export function queueFindings(stats: QueueStats, { queue, asOptions }: Place): Finding[] {
  const { waiting, active, delayed, unburied, dead, oldestWaitingMs } = stats;
  const counts = `${waiting} waiting, ${active} active, ${delayed} delayed`;
  return [
    oldestWaitingMs < LONG_WAIT_MS
      ? ok("queue", `${queue}: ${counts}`)
      : warn(
          "queue",
          `${queue}: ${counts}; the oldest has waited for ${roughly(oldestWaitingMs)}`,
          "Start a worker on this queue, or more of them: npx anvil worker --handlers FILE",
        ),
    unburied === 0
      ? ok("unburied", "no job failed for good without becoming a dead letter")
      : warn(
          "unburied",
          `${unburied} failed for good and are no dead letters yet`,
          "A running worker buries them within seconds; start one",
        ),
    dead === 0
      ? ok("dead letters", "none")
      : warn("dead letters", `${dead} wait for you`, `npx anvil dead list${asOptions}`),
  ];
}
