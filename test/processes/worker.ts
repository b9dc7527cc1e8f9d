import { consoleLog, silentLog } from "webhook-anvil";
import { createWorker } from "webhook-anvil/worker";
import { handlerOnRequest } from "./handler-on-request.ts";

/**
 * A worker in a process of its own. Environment: REDIS_URL, PREFIX, EFFECTS (a file that its handler writes to),
 * WORKER_OPTIONS (JSON), LOG (`console`, or nothing is logged); DIE_AT, see die-at.ts.
 */
const { REDIS_URL = "", PREFIX = "", EFFECTS = "", WORKER_OPTIONS = "{}", LOG } = process.env;
const worker = createWorker(handlerOnRequest(EFFECTS), {
  redis: REDIS_URL,
  prefix: PREFIX,
  log: LOG === "console" ? consoleLog : silentLog,
  ...JSON.parse(WORKER_OPTIONS),
});
process.once("SIGTERM", () => void worker.close().then(() => process.exit(0)));
await worker.start();
console.log("working");
