import type { AnvilConfig } from "webhook-anvil/config";

/** A variable, and the SST secret that carries it: WEBHOOK_SECRET is set with `sst secret set WebhookSecret …`. */
export type LinkedSecret = {
  readonly variable: string;
  readonly link: string;
  /** May be left unset: the secret before the current one, of a source. */
  readonly optional: boolean;
};

/** The link of our own Redis: host, port, username and password. */
export const REDIS_LINK = "Redis";

/** Which of these are linked depends on the kind of Redis. */
export const redisSecrets = {
  REDIS_URL: "RedisUrl",
  UPSTASH_REDIS_REST_URL: "UpstashRedisRestUrl",
  UPSTASH_REDIS_REST_TOKEN: "UpstashRedisRestToken",
} as const;

/** Components in sst.config.ts; SST has one space of names for them and for secrets, upper and lower case alike. */
const taken = [
  "Vpc",
  REDIS_LINK,
  "Cluster",
  "Router",
  "Ingress",
  "Replay",
  "Pulse",
  "PulseSchedule",
  "Worker",
  "Alarms",
];

/** `WEBHOOK_SECRET` → `WebhookSecret`: SST's names are capital first, letters and digits only. */
export function linkName(variable: string): string {
  return variable
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())
    .join("");
}

/**
 * Every `env("NAME")` in the sources of a configuration, each once.
 * @throws {Error} when two of them, or one and a component, would have the same name as SST secrets
 */
export function sourceSecrets(config: Pick<AnvilConfig<unknown>, "sources">): readonly LinkedSecret[] {
  const found = new Map<string, LinkedSecret>();
  for (const { secret, previousSecret } of Object.values(config.sources)) {
    for (const [value, optional] of [
      ...[secret].flat().map((one) => [one, false] as const),
      [previousSecret, true] as const,
    ]) {
      if (typeof value !== "object") continue;
      const known = found.get(value.env);
      found.set(value.env, {
        variable: value.env,
        link: linkName(value.env),
        optional: optional && (known?.optional ?? true),
      });
    }
  }
  const secrets = [...found.values()];
  const problems = secrets.flatMap(({ variable, link }, index) => {
    const same = (name: string) => name.toLowerCase() === link.toLowerCase();
    const twin = secrets.slice(0, index).find((other) => same(other.link));
    if (!/^[A-Z][A-Za-z0-9]*$/.test(link)) return [`${variable} can't be an SST secret: begin with a letter`];
    if (twin) return [`${variable} and ${twin.variable} would be the same SST secret, ${link}`];
    if ([...taken, ...Object.values(redisSecrets)].some(same))
      return [`${variable} would be the SST secret ${link}, a name that is taken`];
    return [];
  });
  if (problems.length > 0) throw new Error(`anvil.config.ts: ${problems.join("; ")}. Rename one.`);
  return secrets;
}
