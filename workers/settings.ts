import { ConfigError, type Environment, parseDuration, redisUrlFrom } from "webhook-anvil";
import type { WorkerOptions } from "webhook-anvil/worker";

export type WorkerSettings = {
  readonly worker: WorkerOptions;
  readonly healthPort: number;
};

/**
 * The container's settings: REDIS_URL (required), ANVIL_CONCURRENCY (default 10), ANVIL_DRAIN (default 25s; keep it
 * below the platform's stop timeout), HEALTH_PORT (default 0: no health server).
 * @throws {ConfigError} naming everything that is wrong
 */
export function workerSettings(env: Environment): WorkerSettings {
  const problems: string[] = [];
  const whole = (name: string, least: number, fallback: number): number => {
    const text = env[name];
    if (!text) return fallback;
    if (/^\d{1,6}$/.test(text) && Number(text) >= least) return Number(text);
    problems.push(`${name}: a whole number from ${least}`);
    return fallback;
  };
  const concurrency = whole("ANVIL_CONCURRENCY", 1, 10);
  const healthPort = whole("HEALTH_PORT", 0, 0);
  const drainMs = env.ANVIL_DRAIN ? parseDuration(env.ANVIL_DRAIN) : 25_000;
  if (drainMs === undefined) problems.push("ANVIL_DRAIN: a duration such as 25s");
  let redis = "";
  try {
    redis = redisUrlFrom(env);
  } catch (error) {
    problems.push(...(error as ConfigError).problems);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { worker: { redis, concurrency, drainMs: drainMs as number }, healthPort };
}
