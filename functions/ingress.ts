import { redisUrlFrom } from "webhook-anvil/config";
import { createServer } from "webhook-anvil/ingress";
import config from "../anvil.config.ts";
import { type FunctionUrlHandler, functionUrlHandler } from "./function-url.ts";

let ingress: FunctionUrlHandler | undefined;

/**
 * The ingress behind a function URL. Composed at the first event and kept as long as the sandbox lives, its
 * connection to Redis included.
 *
 * Environment: REDIS_URL, and what anvil.config.ts names: WEBHOOK_SECRET for the default source.
 */
export const handler: FunctionUrlHandler = (event, context) => {
  ingress ??= functionUrlHandler(
    createServer({ ...config, env: process.env, redis: redisUrlFrom(process.env) }),
  );
  return ingress(event, context);
};
