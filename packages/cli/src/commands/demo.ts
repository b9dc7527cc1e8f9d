import {
  type AnvilConfig,
  DEFAULT_RETRY_SCHEDULE,
  formatRetrySchedule,
  type RetrySchedule,
} from "webhook-anvil";
import { DEFAULT_PREFIX, describeAddress, redisAddress } from "webhook-anvil/queue";
import type { Context } from "../context.ts";
import { createDemoLog } from "../demo/demo-log.ts";
import type { Run } from "../demo/runs.ts";
import { openStage, type Stage } from "../demo/stage.ts";
import { nextRetry, tellStory } from "../demo/story.ts";
import { whatNextLines } from "../demo/what-next.ts";
import type { Terminal } from "../output/terminal.ts";
import { loadConfig } from "../settings/config-file.ts";
import { port } from "../settings/numbers.ts";
import { placeIn } from "../settings/queue-place.ts";
import { redisUrl } from "../settings/redis-url.ts";
import { untilAskedToStop } from "../shutdown.ts";

export type DemoOptions = { readonly prefix?: string };

/** Looks made up, so that nobody takes it for one to keep. */
const MADE_UP_SECRET = "made-up-demo-secret";
/** Long enough to watch, short enough to wait for. */
const SCHEDULE: RetrySchedule = [200, 400, 600, 800];

/** The whole chain before somebody's eyes; then it stays up for their own events. */
export async function demo(context: Context, options: DemoOptions): Promise<number> {
  const { env, stdout, stderr } = context;
  const { style } = stdout;
  const stopped = new AbortController();
  const stop = untilAskedToStop((message) => stderr.line(`anvil: ${message}`)).then(() => stopped.abort());

  const redis = redisUrl(env);
  // Never ANVIL_QUEUE: what the demo finds in its queue it removes.
  const { prefix } = placeIn({}, options, { env: { ...env, ANVIL_QUEUE: undefined } });
  const { encryption } = (await loadConfig(context)).config as Pick<AnvilConfig, "encryption">;
  const log = createDemoLog(stdout);
  const secret = env.WEBHOOK_SECRET || MADE_UP_SECRET;
  const stage = await openStage({
    ...{ redis, prefix, port: port(env), secret, schedule: SCHEDULE, log, env },
    ...(encryption === undefined ? {} : { encryption }),
  });
  try {
    introduce(stage, redis, secret === MADE_UP_SECRET, stdout);
    await tellStory(stage, stdout, stopped.signal);
    const address = redisAddress(redis);
    const around = {
      secretIsMadeUp: secret === MADE_UP_SECRET,
      redisUrl: redis,
      redisUrlIsPrivate: Boolean(address.auth.password),
      prefixIsDefault: prefix === DEFAULT_PREFIX,
    };
    stdout.line();
    for (const line of whatNextLines(stage, around, style)) stdout.line(line);
    stdout.line();
    log.tellDeliveries();
    stage.runs.follow((run) => stdout.line(`   ${describe(run, stage)}`));
    await stop;
  } catch (error) {
    if (!stopped.signal.aborted) throw error;
  } finally {
    await stage.close();
  }
  stdout.line("\nStopped.");
  return 0;
}

function introduce(stage: Stage, redis: string, secretIsMadeUp: boolean, { style, line }: Terminal): void {
  line(`${style.bold("Anvil demo:")} webhook → verify → dedupe → enqueue → 202,`);
  line("            then worker → handler → retry → dead letter → replay");
  line();
  line(`   listens   POST ${stage.url}/webhooks`);
  line(`   redis     ${describeAddress(redisAddress(redis))}, queue ${stage.place.queue}`);
  line(`   secret    ${secretIsMadeUp ? stage.secret : "your WEBHOOK_SECRET"}`);
  line(
    `   retries   after ${formatRetrySchedule(stage.schedule)}; the default is ${formatRetrySchedule(DEFAULT_RETRY_SCHEDULE)}`,
  );
}

/** A run of somebody's own event. */
function describe({ event, attempt, error }: Run, stage: Stage): string {
  const what = `${event.type ?? "event"}: run ${attempt}`;
  if (error === undefined) return `${what} done, ${event.id}`;
  const last = stage.schedule[attempt - 1] === undefined;
  return `${what} failed (${error}); ${last ? `dead letter ${event.id}` : nextRetry(stage, attempt)}`;
}
