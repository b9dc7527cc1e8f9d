import type { Settings } from "./settings.ts";

/**
 * CloudFront in front of the ingress, when a domain or a rate limit is asked for. The function's own URL stays
 * reachable: CloudFront can sign a POST for Lambda only when the sender sends the body's digest along, and providers
 * don't. What protects the ingress is the signature of each delivery, and its reserved concurrency.
 */
export function createRouter({ domain, rateLimit }: Settings): sst.aws.Router | undefined {
  if (domain === undefined && rateLimit === undefined) return undefined;
  return new sst.aws.Router("Router", {
    ...(domain === undefined ? {} : { domain }),
    ...(rateLimit === undefined
      ? {}
      : {
          waf: {
            rateLimitPerIp: rateLimit,
            // They look for attacks in bodies. Signed text about SQL is no attack, and a refused delivery is lost.
            managedRules: { coreRuleSet: false, knownBadInputs: false, sqlInjection: false },
          },
        }),
  });
}
