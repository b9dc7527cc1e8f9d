import { createServer } from "webhook-anvil/ingress";
import { resolveConfig, servedSources } from "webhook-anvil/signatures";
import config from "../anvil.config.ts";
import { functionEnvironment } from "./environment.ts";
import { type FunctionUrlHandler, functionUrlHandler } from "./function-url.ts";
import { lambdaLog } from "./lambda-log.ts";
import { redisSettings } from "./redis-settings.ts";

let ingress: FunctionUrlHandler | undefined;

/**
 * The ingress behind a function URL. Composed at the first event and kept as long as the sandbox lives, its
 * connection to Redis included.
 *
 * Environment, or SST links: what anvil.config.ts names, WEBHOOK_SECRET for the default source; and REDIS_URL, or
 * UPSTASH_REDIS_REST_URL with UPSTASH_REDIS_REST_TOKEN, which come first.
 */
export const handler: FunctionUrlHandler = (event, context) => {
  ingress ??= functionUrlHandler(createIngress());
  return ingress(event, context);
};

function createIngress() {
  const env = functionEnvironment(config, process.env);
  const app = createServer({ ...config, env, log: lambdaLog, ...redisSettings(env) });
  lambdaLog.info({ sources: servedSources(resolveConfig(config, env)) }, "started");
  return app;
}
