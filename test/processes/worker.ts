import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { silentLog } from "webhook-anvil";
import { createWorker } from "webhook-anvil/worker";

/**
 * A worker in a process of its own. Each run of a handler leaves a line in EFFECTS, outside Redis. The event says
 * what to do: `kill` ends the process in the middle of it, `takeMs` takes so long.
 * Environment: REDIS_URL, PREFIX, EFFECTS (a file), WORKER_OPTIONS (JSON).
 */
const { REDIS_URL = "", PREFIX = "", EFFECTS = "", WORKER_OPTIONS = "{}" } = process.env;
const worker = createWorker(
  async (event, { attempt }) => {
    const { kill, takeMs } = event.json() as { kill?: boolean; takeMs?: number };
    appendFileSync(EFFECTS, `started ${event.id} ${attempt}\n`);
    if (kill) process.kill(process.pid, "SIGKILL");
    if (takeMs) await delay(takeMs);
    appendFileSync(EFFECTS, `finished ${event.id} ${attempt}\n`);
  },
  { redis: REDIS_URL, prefix: PREFIX, log: silentLog, ...JSON.parse(WORKER_OPTIONS) },
);
process.once("SIGTERM", () => void worker.close().then(() => process.exit(0)));
await worker.start();
console.log("working");
