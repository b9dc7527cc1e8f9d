import type { EncryptionConfig, HandlerMap } from "webhook-anvil";
import { createWorker } from "webhook-anvil/worker";
import type { Context } from "../context.ts";
import { UsageError } from "../failure.ts";
import { createLogger } from "../logger.ts";
import { loadConfig } from "../settings/config-file.ts";
import { countSetting, durationSetting } from "../settings/numbers.ts";
import { type PlaceOptions, placeIn } from "../settings/queue-place.ts";
import { redisUrl } from "../settings/redis-url.ts";
import { importDefault } from "../settings/user-module.ts";
import { dontWaitForHandlers, untilAskedToStop } from "../shutdown.ts";

export type WorkerOptions = PlaceOptions & {
  readonly handlers?: string;
  readonly concurrency?: string;
  readonly drain?: string;
};

/** Runs handlers until it is asked to stop; then it lets the running ones finish, and gives the rest back. */
export async function worker(context: Context, options: WorkerOptions): Promise<number> {
  const { env, stdout, stderr } = context;
  if (options.handlers === undefined) {
    throw new UsageError(
      'worker needs --handlers FILE: write "export default async (event) => { … }" into handlers.ts, ' +
        "then run anvil worker --handlers handlers.ts",
    );
  }
  const concurrency = countSetting(options.concurrency, env, {
    option: "--concurrency",
    variable: "ANVIL_CONCURRENCY",
    least: 1,
    fallback: 10,
  });
  const drainMs = durationSetting(options.drain, env, {
    option: "--drain",
    variable: "ANVIL_DRAIN",
    fallbackMs: 25_000,
  });
  const redis = redisUrl(env);
  const { config } = await loadConfig(context);
  const { queue, prefix } = placeIn(config, options, context);
  const handlers = await importDefault(options.handlers, "export default async (event) => { … }", context);
  const log = await createLogger(stdout);
  // createWorker checks what the file exports, and names every entry that is no handler.
  const running = createWorker(handlers as HandlerMap, {
    ...{ redis, queue, prefix, concurrency, drainMs, env, log },
    // Checked there, like every other option.
    ...(config.encryption === undefined ? {} : { encryption: config.encryption as EncryptionConfig }),
  });

  const stop = untilAskedToStop((message) => stderr.line(`anvil: ${message}`));
  const failed = running.start().then(() => new Promise<never>(() => {}));
  const signal = await Promise.race([stop, failed]);
  log.info({ signal, drainMs }, "stopping: letting the running handlers finish");
  await running.close();
  log.info({}, "stopped");
  dontWaitForHandlers();
  return 0;
}
