import { consoleLog } from "webhook-anvil/config";
import { createServer } from "webhook-anvil/ingress";
import { listen } from "webhook-anvil/node";
import { resolveConfig, servedSources } from "webhook-anvil/signatures";
import config from "../anvil.config.ts";
import { redisSettings } from "./redis-settings.ts";

/**
 * The same ingress as a process, for containers and for those without Lambda.
 *
 * Environment: PORT (3000), HOST (0.0.0.0), what redis-settings.ts reads, and what anvil.config.ts names:
 * WEBHOOK_SECRET for the default source.
 */
const env = process.env;
/** For requests under way when it is told to stop, in milliseconds: more than a body and an answer may take. */
const CLOSE_MS = 20_000;

try {
  const app = createServer({ ...config, env, ...redisSettings(env), log: consoleLog });
  await app.checkDurability();
  const server = await listen(app, { host: env.HOST || "0.0.0.0", port: port(env.PORT) });
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => {
      consoleLog.info({ signal }, "stopping: finishing the requests under way");
      void server
        .close(CLOSE_MS)
        .then(() => app.close())
        .then(() => process.exit(0));
    });
  }
  const sources = servedSources(resolveConfig(config, env));
  consoleLog.info({ sources }, `listening on http://${server.boundTo}`);
  // Asks Redis once, so that the log says now what is wrong with it, and not at the first delivery.
  void app.request("/readyz");
} catch (error) {
  consoleLog.error({ reason: (error as Error).message }, "the ingress can't start");
  process.exit(1);
}

function port(text: string | undefined): number {
  if (!text) return 3_000;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new Error("PORT: a whole number from 0 to 65535");
}
