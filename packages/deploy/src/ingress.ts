import { createRouter } from "./edge.ts";
import { lambda } from "./lambda.ts";
import type { RedisAccess } from "./redis.ts";
import type { Settings } from "./settings.ts";

/** The function that takes deliveries: the only one with a URL, and the only one that has the sources' secrets. */
export function createIngress(
  settings: Settings,
  redis: RedisAccess,
  secrets: readonly sst.Secret[],
): sst.aws.Function {
  const router = createRouter(settings);
  return new sst.aws.Function("Ingress", {
    ...lambda("Ingress", settings, redis),
    description: "Anvil: verifies, dedupes and enqueues deliveries",
    handler: "functions/ingress.handler",
    // One answer takes 2 s at most; the rest is for a cold start.
    timeout: "10 seconds",
    // Lambda gives CPU by memory, and a cold start is CPU.
    memory: "1024 MB",
    link: [...redis.ingressLinks, ...secrets],
    url: { authorization: "none", cors: false, ...(router ? { router: { instance: router } } : {}) },
    ...(settings.ingressConcurrency === undefined
      ? {}
      : { concurrency: { reserved: settings.ingressConcurrency } }),
  });
}
