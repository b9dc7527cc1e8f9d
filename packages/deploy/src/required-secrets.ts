import { type ConfigWithSecrets, configSecrets, redisSecrets } from "./link-names.ts";
import type { Settings } from "./settings.ts";

/** What a secret's value has to begin with, where that can be said: none of them may cross the internet in the clear. */
const beginnings: Readonly<Record<string, string>> = {
  [redisSecrets.REDIS_URL]: "rediss://",
  [redisSecrets.UPSTASH_REDIS_REST_URL]: "https://",
};

/** The names of the secrets without which a deployment can't do. */
export function requiredSecrets(
  { redis }: Pick<Settings, "redis">,
  config: ConfigWithSecrets,
): readonly string[] {
  return [
    ...configSecrets(config).flatMap(({ link, optional }) => (optional ? [] : [link])),
    ...(redis === "elasticache" ? [] : [redisSecrets.REDIS_URL]),
    ...(redis === "upstash"
      ? [redisSecrets.UPSTASH_REDIS_REST_URL, redisSecrets.UPSTASH_REDIS_REST_TOKEN]
      : []),
  ];
}

/**
 * SST itself finds out when it gets to a secret's first use, with half of the stage created by then.
 *
 * @param env the environment of `sst deploy`, where SST puts each secret as SST_SECRET_<name>
 * @throws {Error} that says how to set each one that is missing or unusable; never with a value in it
 */
export function checkSecrets(
  settings: Pick<Settings, "redis" | "stage">,
  config: ConfigWithSecrets,
  env: Readonly<Record<string, string | undefined>>,
): void {
  const problems = requiredSecrets(settings, config).flatMap((name) => {
    const value = env[`SST_SECRET_${name}`]?.trim() ?? "";
    const beginning = beginnings[name] ?? "";
    const command = `sst secret set ${name} '${beginning}…' --stage ${settings.stage}`;
    if (value === "") return [`${name} is not set: ${command}`];
    return value.startsWith(beginning) ? [] : [`${name} has to begin with ${beginning}: ${command}`];
  });
  if (problems.length > 0) {
    throw new Error(`Secrets are missing:\n${problems.map((problem) => `- ${problem}`).join("\n")}`);
  }
}
