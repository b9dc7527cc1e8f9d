import { ConfigError, consoleLog, type Environment, parseDuration, redisUrlFrom } from "webhook-anvil";
import { createWorker, type WorkerOptions } from "webhook-anvil/worker";
import config from "../anvil.config.ts";
import handlers from "./handlers/index.ts";

/**
 * The container's process: runs the handlers until it is told to stop, then drains.
 *
 * Environment: REDIS_URL (required), ANVIL_CONCURRENCY (default 10), ANVIL_DRAIN (default 25s; keep it below the
 * platform's stop timeout).
 */
const env = process.env;

try {
  const worker = createWorker(handlers, { ...workerOptions(env), log: consoleLog });
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => {
      consoleLog.info({ signal }, "stopping: finishing what runs, taking nothing new");
      void worker.close().then(() => process.exit(0));
    });
  }
  await worker.start();
} catch (error) {
  consoleLog.error({ reason: (error as Error).message }, "the worker can't start");
  process.exitCode = 1;
}

function workerOptions(from: Environment): WorkerOptions {
  const problems: string[] = [];
  const concurrency = from.ANVIL_CONCURRENCY ? Number(from.ANVIL_CONCURRENCY) : undefined;
  const drainMs = from.ANVIL_DRAIN ? parseDuration(from.ANVIL_DRAIN) : undefined;
  if (from.ANVIL_DRAIN && drainMs === undefined) problems.push("ANVIL_DRAIN: write a duration as in 25s");
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    redis: redisUrlFrom(from),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(drainMs === undefined ? {} : { drainMs }),
    ...(config.queue === undefined ? {} : { queue: config.queue }),
    ...(config.prefix === undefined ? {} : { prefix: config.prefix }),
  };
}
