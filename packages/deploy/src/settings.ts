import {
  duration,
  matching,
  oneOf,
  oneOfNumbers,
  orNone,
  type Setting,
  setting,
  wholeNumber,
} from "./setting.ts";

/**
 * Every setting of a deployment. They are read from the environment of `sst deploy`, which SST fills from
 * `.env.<stage>` and `.env`: commit a `.env.production` with what differs from the defaults. None is a secret;
 * secrets are set with `sst secret set` (link-names.ts).
 *
 * Two defaults: for a personal stage, then for the stage `production`.
 */
const settings = {
  /** `elasticache`: one of our own, in a VPC. `url`: yours, by the secret RedisUrl. `upstash`: by REST and TCP. */
  redis: setting("ANVIL_DEPLOY_REDIS", oneOf("elasticache", "url", "upstash"), "elasticache"),
  /** ElastiCache's size, without `cache.`. Changing it takes Redis away for some seconds. */
  redisInstance: setting(
    "ANVIL_DEPLOY_REDIS_INSTANCE",
    matching(/^[a-z]\d[a-z]*\.[a-z0-9]+$/, "an ElastiCache node type as in t4g.small"),
    "t4g.micro",
    "t4g.small",
  ),
  /**
   * Whether the stage and its Redis can't be removed or replaced. To take a protected stage down, deploy it once with
   * `no`, then remove it with `no`.
   */
  protect: setting("ANVIL_DEPLOY_PROTECT", oneOf("yes", "no"), "no", "yes"),
  /** The AWS region. Default: the one that your AWS profile names. */
  region: setting<string | undefined>(
    "ANVIL_DEPLOY_REGION",
    matching(/^[a-z]{2}(-[a-z]+)+-\d$/, "an AWS region as in eu-central-1"),
    undefined,
  ),
  /**
   * How many ingress functions may run at once; more deliveries get 429. Reserved for it alone, and a limit on
   * what reaches Redis. A new AWS account has 10 in all and can't reserve any: `none`.
   */
  ingressConcurrency: setting<number | undefined>(
    "ANVIL_DEPLOY_INGRESS_CONCURRENCY",
    orNone(wholeNumber(1, 10_000)),
    undefined,
    100,
  ),
  /** A name of your own in front of the ingress, in a Route 53 zone of the same account. Needs CloudFront. */
  domain: setting<string | undefined>(
    "ANVIL_DEPLOY_DOMAIN",
    orNone(matching(/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/, "a host name as in hooks.example.com")),
    undefined,
  ),
  /**
   * Requests that one address may send in five minutes; more are refused by WAF. Needs CloudFront. Providers send
   * everything from a few addresses: keep it far above what the busiest one sends.
   */
  rateLimit: setting<number | undefined>(
    "ANVIL_DEPLOY_RATE_LIMIT",
    orNone(wholeNumber(10, 2_000_000_000)),
    undefined,
  ),
  /** Worker containers: never fewer, all of them on demand; beyond that mostly spot. */
  workerMin: setting("ANVIL_DEPLOY_WORKER_MIN", wholeNumber(1, 1_000), 1, 2),
  workerMax: setting("ANVIL_DEPLOY_WORKER_MAX", wholeNumber(1, 1_000), 2, 20),
  /** vCPU, and memory in MB; Fargate takes certain pairs. */
  workerCpu: setting("ANVIL_DEPLOY_WORKER_CPU", oneOf("0.25", "0.5", "1", "2", "4"), "0.25", "0.5"),
  workerMemoryMb: setting("ANVIL_DEPLOY_WORKER_MEMORY_MB", wholeNumber(512, 30_720), 512, 1_024),
  /** What the image is built for. `arm64` is a fifth cheaper, and slow to build on a machine that isn't. */
  workerArchitecture: setting("ANVIL_DEPLOY_WORKER_ARCHITECTURE", oneOf("x86_64", "arm64"), "x86_64"),
  /** Jobs at once in one container. */
  workerConcurrency: setting("ANVIL_DEPLOY_WORKER_CONCURRENCY", wholeNumber(1, 1_000), 10),
  /** How long a stopping worker lets its jobs finish. Fargate kills after two minutes at the latest. */
  drainSeconds: setting("ANVIL_DEPLOY_DRAIN", duration(1, 105), 25),
  /** More workers start when the oldest job has waited this long, or this many wait. */
  scaleOldestSeconds: setting("ANVIL_DEPLOY_SCALE_OLDEST", duration(1, 86_400), 30),
  scaleWaiting: setting("ANVIL_DEPLOY_SCALE_WAITING", wholeNumber(1, 10_000_000), 500),
  /** How long CloudWatch keeps the logs, in days. */
  logDays: setting(
    "ANVIL_DEPLOY_LOG_DAYS",
    oneOfNumbers(1, 3, 5, 7, 14, 30, 60, 90, 120, 180, 365, 400, 731),
    7,
    90,
  ),
  /** Where alarms are sent; AWS asks that address for its consent first. */
  alarmEmail: setting<string | undefined>(
    "ANVIL_DEPLOY_ALARM_EMAIL",
    orNone(matching(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, "an e-mail address")),
    undefined,
  ),
  /** Alarms: from how many dead letters, from what age of the oldest waiting job, from how many answers 5xx in five minutes. */
  alarmDead: setting("ANVIL_DEPLOY_ALARM_DEAD", wholeNumber(1, 10_000_000), 1),
  alarmOldestSeconds: setting("ANVIL_DEPLOY_ALARM_OLDEST", duration(60, 86_400), 300),
  alarm5xx: setting("ANVIL_DEPLOY_ALARM_5XX", wholeNumber(1, 10_000_000), 5),
} as const;

type Table = typeof settings;
type Value<S> = S extends Setting<infer T> ? T : never;

/** A deployment's settings, checked and complete. */
export type Settings = { readonly [Name in keyof Table]: Value<Table[Name]> } & {
  readonly stage: string;
  readonly production: boolean;
};

/** What Fargate takes: memory in MB, from and to, in steps. */
const fargateMemory: Readonly<Record<Settings["workerCpu"], readonly number[]>> = {
  "0.25": [512, 1_024, 2_048],
  "0.5": steps(1_024, 4_096),
  "1": steps(2_048, 8_192),
  "2": steps(4_096, 16_384),
  "4": steps(8_192, 30_720),
};

const PREFIX = "ANVIL_DEPLOY_";

/**
 * @param env the environment of `sst deploy`; only ANVIL_DEPLOY_* is looked at
 * @throws {Error} that names everything that is wrong at once
 */
export function readSettings(env: Readonly<Record<string, string | undefined>>, stage: string): Settings {
  const production = stage === "production";
  const problems = unknownVariables(env);
  const read = (entry: Setting<unknown>): unknown => {
    const text = env[entry.variable]?.trim() ?? "";
    if (text === "") return entry.defaults[production ? "production" : "personal"];
    const result = entry.read(text);
    if ("value" in result) return result.value;
    problems.push(`${entry.variable} ${result.problem}; it is ${JSON.stringify(text)}`);
    return undefined;
  };
  const values = Object.fromEntries(
    Object.entries(settings).map(([name, entry]) => [name, read(entry as Setting<unknown>)]),
  );
  const complete = { ...values, stage, production } as Settings;
  if (problems.length === 0) problems.push(...contradictions(complete));
  if (problems.length > 0) {
    throw new Error(
      `The deployment's settings are wrong:\n${problems.map((problem) => `- ${problem}`).join("\n")}`,
    );
  }
  return complete;
}

function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const known = Object.values(settings).map(({ variable }) => variable as string);
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name))
    .map((name) => `${name} is no setting; they are ${known.join(", ")}`);
}

function contradictions({ workerMin, workerMax, workerCpu, workerMemoryMb }: Settings): string[] {
  const problems: string[] = [];
  if (workerMin > workerMax) {
    problems.push(
      `ANVIL_DEPLOY_WORKER_MIN is ${workerMin}, more than ANVIL_DEPLOY_WORKER_MAX, which is ${workerMax}`,
    );
  }
  const memory = fargateMemory[workerCpu];
  if (!memory.includes(workerMemoryMb)) {
    problems.push(
      `ANVIL_DEPLOY_WORKER_MEMORY_MB is ${workerMemoryMb}; with ${workerCpu} vCPU Fargate takes ${memory.join(", ")}`,
    );
  }
  return problems;
}

function steps(from: number, to: number): number[] {
  return Array.from({ length: (to - from) / 1_024 + 1 }, (_, index) => from + index * 1_024);
}
