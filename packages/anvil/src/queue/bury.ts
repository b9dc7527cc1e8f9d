import { buryFunctionLua } from "./bury-lua.ts";
import { type QueuePlace, queueKeys } from "./queue-place.ts";
import type { RedisClient } from "./redis-clients.ts";
import { runScript, script } from "./run-script.ts";

/** KEYS: main failed, job, job logs, dead failed, dead job, dead logs, dead events. ARGV: prefixes and id. */
const buryScript = script(`${buryFunctionLua}\nreturn bury(ARGV[1], ARGV[2], ARGV[3])`);

export type BuryResult = "buried" | "not_failed" | "gone" | "unfinished" | "already_dead";

const RESULTS: Readonly<Record<string, BuryResult>> = {
  "1": "buried",
  "0": "not_failed",
  "-1": "gone",
  "-2": "unfinished",
  "-3": "already_dead",
};

/** Makes a job that failed for good a dead letter. Safe to call any number of times, by anyone. */
export async function bury(client: RedisClient, place: QueuePlace, jobId: string): Promise<BuryResult> {
  const { main, dead } = queueKeys(place);
  const keys = [
    main("failed"),
    main(jobId),
    main(`${jobId}:logs`),
    dead("failed"),
    dead(jobId),
    dead(`${jobId}:logs`),
    dead("events"),
  ];
  const code = await runScript(client, buryScript, keys, [main(""), dead(""), jobId]);
  return RESULTS[String(code)] as BuryResult;
}
