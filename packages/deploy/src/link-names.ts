import type { AnvilConfig, Secret } from "webhook-anvil/config";

/** A variable, and the SST secret that carries it: WEBHOOK_SECRET is set with `sst secret set WebhookSecret …`. */
export type LinkedSecret = {
  readonly variable: string;
  readonly link: string;
  /** May be left unset: the secret before the current one, of a source; an older encryption key. */
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

/** The parts of a configuration that name secrets. */
export type ConfigWithSecrets = Pick<AnvilConfig<unknown>, "sources" | "encryption">;

/** Every `env("NAME")` in the setting `encryption`, each once: what workers need as well. */
export function encryptionSecrets({ encryption }: Pick<AnvilConfig<unknown>, "encryption">): LinkedSecret[] {
  return namedIn([
    [encryption?.key, false],
    ...(encryption?.previousKeys ?? []).map((key) => [key, true] as const),
  ]);
}

/**
 * Every `env("NAME")` in the sources of a configuration and among its encryption keys, each once.
 * @throws {Error} when two of them, or one and a component, would have the same name as SST secrets
 */
export function configSecrets(config: ConfigWithSecrets): readonly LinkedSecret[] {
  const secrets = namedIn([
    ...Object.values(config.sources).flatMap(({ secret, previousSecret }) => [
      ...[secret].flat().map((one) => [one, false] as const),
      [previousSecret, true] as const,
    ]),
    [config.encryption?.key, false],
    ...(config.encryption?.previousKeys ?? []).map((key) => [key, true] as const),
  ]);
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

/** One that is required anywhere is required. */
function namedIn(
  listed: readonly (readonly [secret: Secret | undefined, optional: boolean])[],
): LinkedSecret[] {
  const found = new Map<string, LinkedSecret>();
  for (const [value, optional] of listed) {
    if (typeof value !== "object") continue;
    const { env: variable } = value;
    const known = found.get(variable);
    found.set(variable, {
      variable,
      link: linkName(variable),
      optional: optional && (known?.optional ?? true),
    });
  }
  return [...found.values()];
}
