import { consoleLog } from "webhook-anvil";
import { createWorker } from "webhook-anvil/worker";
import config from "../anvil.config.ts";
import handlers from "./handlers/index.ts";
import { serveHealth } from "./health.ts";
import { workerSettings } from "./settings.ts";

/** The container's process: runs the handlers until it is told to stop, then drains. settings.ts has the environment. */
try {
  const settings = workerSettings(process.env);
  const worker = createWorker(handlers, {
    ...settings.worker,
    ...(config.queue === undefined ? {} : { queue: config.queue }),
    ...(config.prefix === undefined ? {} : { prefix: config.prefix }),
    ...(config.encryption === undefined ? {} : { encryption: config.encryption }),
    env: process.env,
    log: consoleLog,
  });
  const closeHealth = await serveHealth(settings.healthPort);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => {
      consoleLog.info({ signal }, "stopping: finishing what runs, taking nothing new");
      // Healthy until the end: a platform that sees a draining worker as sick would kill it early.
      void worker.close().then(() => {
        closeHealth();
        process.exit(0);
      });
    });
  }
  await worker.start();
} catch (error) {
  consoleLog.error({ reason: (error as Error).message }, "the worker can't start");
  process.exit(1);
}
