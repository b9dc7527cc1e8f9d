import { silentLog } from "webhook-anvil";
import { replayDeadLetter } from "webhook-anvil/replay";
import "./die-at.ts";

/**
 * Replays the dead letters that its arguments name, one after the other, and prints each answer as a line of JSON.
 * Environment: REDIS_URL, PREFIX; DIE_AT, see die-at.ts.
 */
const { REDIS_URL = "", PREFIX = "" } = process.env;
for (const jobId of process.argv.slice(2)) {
  const answer = await replayDeadLetter(jobId, { redis: REDIS_URL, prefix: PREFIX, log: silentLog });
  console.log(JSON.stringify(answer));
}
