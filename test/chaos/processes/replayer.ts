import { setTimeout as delay } from "node:timers/promises";

import { createConnection, deadlineIn, listDead } from "webhook-anvil/queue";
import { replayDeadLetter } from "webhook-anvil/replay";
import { joinFleet, onStop, tellReady } from "./fleet-member.ts";
import { timedLog } from "./timed-log.ts";

/**
 * A tireless operator: replays every dead letter for which there is hope. Environment: REDIS_URL, PREFIX.
 */
joinFleet();
const { REDIS_URL = "", PREFIX = "" } = process.env;
const place = { prefix: PREFIX };
const deadlineMs = 2_000;
const connection = createConnection({
  redis: REDIS_URL,
  name: "anvil-chaos-replayer",
  deadlineMs,
  log: timedLog,
});
let stopped = false;
onStop(async () => {
  stopped = true;
  await connection.close();
});
tellReady();

while (!stopped) {
  try {
    const { letters } = await connection.run(deadlineIn(deadlineMs), (client) =>
      listDead(client, place, { offset: 0, limit: 100_000 }),
    );
    for (const { jobId, failureContext } of letters) {
      if (failureContext.lastError.includes("declined")) continue;
      await replayDeadLetter(jobId, { connection, ...place, deadlineMs, log: timedLog });
    }
  } catch (error) {
    timedLog.warn({ reason: (error as Error).message }, "will try again");
  }
  await delay(300);
}
