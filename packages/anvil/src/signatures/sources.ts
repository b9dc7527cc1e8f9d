import * as v from "valibot";
import type { Cipher } from "../contract/cipher.ts";
import {
  type AnvilConfig,
  DEFAULT_BODY_LIMIT,
  DEFAULT_DEDUPE_MS,
  type Durability,
  type IdentityFunction,
  MAX_BODY_LIMIT,
  type ResolvedLimits,
  type Secret,
  type SourceConfig,
} from "../contract/config.ts";
import { resolveEncryption } from "../contract/encryption.ts";
import { type Environment, isVariableName } from "../contract/environment.ts";
import { ConfigError } from "../contract/errors.ts";
import { DEFAULT_PREFIX, DEFAULT_QUEUE, queueNameProblem } from "../contract/queue-names.ts";
import {
  DEFAULT_RETRY_SCHEDULE,
  parseRetrySchedule,
  type RetrySchedule,
  retryScheduleProblem,
} from "../contract/retry-schedule.ts";
import { dedupeProblem, durabilitySchema, resolveDurability } from "./durability-setting.ts";
import type { HandshakeSource } from "./handshakes/handshake.ts";
import { limitsEntries, limitsProblem, resolveLimits } from "./limits-setting.ts";
import type { Provider } from "./provider.ts";
import { isProviderRow, providerProblems } from "./provider-schema.ts";
import { type ProviderName, providers } from "./providers/index.ts";
import { type KeyedScheme, keyedSchemes, schemesOf } from "./schemes/index.ts";
import { secretForm, signsUrl } from "./schemes/traits.ts";
import { MIN_SECRET_LENGTH, otherSecretProblem, secretProblem } from "./secret-key.ts";
import { unknownProvider } from "./unknown-provider.ts";

/** A source with every default filled in and every secret read. Holds keys: never log it. */
export type ResolvedSource = {
  readonly name: string;
  readonly provider: Provider;
  /** The provider's schemes for which there is a key, and every key that is valid, the current one first. */
  readonly schemes: readonly KeyedScheme[];
  /** The secrets as configured, in the same order; for signing test events. */
  readonly secrets: readonly string[];
  readonly schedule: RetrySchedule;
  readonly dedupeMs: number;
  readonly bodyLimit: number;
  readonly onDeadRedelivery: "keep" | "replay";
  readonly identity: "provider" | "body" | "signature+body" | IdentityFunction;
  /** Whether a list of events becomes a job for each. */
  readonly split: boolean;
  /** What its provider's handshake needs. Holds secrets. */
  readonly handshake: HandshakeSource;
  /** The public URL, for schemes that sign it; empty where none is given. */
  readonly publicUrl: string;
  /** Absent where it has none. */
  readonly limits?: ResolvedLimits;
};

export type ResolvedConfig = {
  readonly sources: ReadonlyMap<string, ResolvedSource>;
  readonly queue: string;
  readonly prefix: string;
  readonly durability: Durability;
  /** Holds keys: never log it. */
  readonly cipher: Cipher | undefined;
};

const MAX_DEDUPE_MS = 90 * 86_400_000;

/** Every schema has a message of its own: valibot's repeat what they received, and that may be a secret. */
const SETTINGS = "an object of settings";
const VARIABLE = 'the name of a variable, as in env("WEBHOOK_SECRET"), not the secret itself';

const isFunction = (value: unknown) => typeof value === "function";
const PUBLIC_URL = "the public URL that the provider was told, with https:// and the path";

const secretSchema = v.union(
  [
    v.string(),
    v.strictObject({
      env: v.pipe(v.string(VARIABLE), v.check(isVariableName, VARIABLE)),
    }),
  ],
  'a secret is a text or env("NAME")',
);
const retrySchema = v.strictObject(
  {
    schedule: v.pipe(
      v.custom<RetrySchedule>(Array.isArray, "a retry schedule is a list of delays in milliseconds"),
      v.rawCheck(({ dataset, addIssue }) => {
        const problem = dataset.typed ? retryScheduleProblem(dataset.value) : undefined;
        if (problem) addIssue({ message: problem });
      }),
    ),
  },
  SETTINGS,
);
const wholeNumber = (most: number, unit: string) =>
  v.pipe(
    v.number(`a whole number of ${unit} from 1 to ${most}`),
    v.check(
      (value) => Number.isSafeInteger(value) && value >= 1 && value <= most,
      `a whole number of ${unit} from 1 to ${most}`,
    ),
  );
const limitsSchema = v.strictObject(limitsEntries, SETTINGS);
const providerSchema = v.union(
  [v.picklist([...providers.keys()]), v.custom<Provider>(isProviderRow)],
  ({ input }) => unknownProvider(input),
);
const sourceSchema = v.strictObject(
  {
    provider: providerSchema,
    secret: v.union(
      [secretSchema, v.array(secretSchema)],
      'a secret is a text, env("NAME"), or a list of these',
    ),
    previousSecret: v.optional(secretSchema),
    retry: v.optional(retrySchema),
    dedupeMs: v.optional(wholeNumber(MAX_DEDUPE_MS, "milliseconds")),
    bodyLimit: v.optional(wholeNumber(MAX_BODY_LIMIT, "bytes")),
    onDeadRedelivery: v.optional(v.picklist(["keep", "replay"], '"keep" or "replay"')),
    limits: v.optional(limitsSchema),
    identity: v.optional(
      v.union(
        [v.picklist(["provider", "body", "signature+body"]), v.custom<IdentityFunction>(isFunction)],
        '"provider", "body", "signature+body", or a function of the delivery',
      ),
    ),
    split: v.optional(v.boolean("true or false")),
    verifyToken: v.optional(secretSchema),
    topics: v.optional(v.array(v.pipe(v.string(), v.url("the URL of a topic")), "a list of URLs")),
    url: v.optional(
      v.pipe(
        v.string(PUBLIC_URL),
        v.regex(/^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?(?:\?[^\s#]*)?$/i, PUBLIC_URL),
      ),
    ),
  },
  SETTINGS,
);
/** The part of a source that can be checked although another setting of it is wrong. */
const signingSchema = v.object({
  provider: sourceSchema.entries.provider,
  secret: sourceSchema.entries.secret,
  previousSecret: sourceSchema.entries.previousSecret,
});
const configSchema = v.strictObject(
  {
    sources: v.record(v.string(), v.unknown(), "an object of sources by name"),
    retry: v.optional(retrySchema),
    // Checked by what reads it, since workers need it as well, and they read no more of this.
    encryption: v.optional(v.unknown()),
    queue: v.optional(v.string("a text")),
    prefix: v.optional(v.string("a text")),
    durability: v.optional(durabilitySchema),
  },
  SETTINGS,
);

/**
 * Checks a configuration, fills in the defaults and reads the secrets.
 * @param env where `env("NAME")` references are looked up, ANVIL_RETRY_SCHEDULE and ANVIL_DURABILITY; nothing else is read
 * @throws {ConfigError} naming everything that is wrong at once, by setting, never a secret's value
 */
export function resolveConfig(config: unknown, env: Environment = {}): ResolvedConfig {
  const problems: string[] = [];
  const checked = v.safeParse(configSchema, config);
  if (!checked.success) problems.push(...checked.issues.map((issue) => describeIssue(issue, [])));
  // What can be checked beside a misspelt setting is checked all the same: everything at once.
  const raw = (typeof config === "object" && config !== null ? config : {}) as Partial<AnvilConfig>;
  const queue = typeof raw.queue === "string" ? raw.queue : DEFAULT_QUEUE;
  const prefix = typeof raw.prefix === "string" ? raw.prefix : DEFAULT_PREFIX;
  const nameProblem = queueNameProblem(prefix, queue);
  if (nameProblem) problems.push(nameProblem);

  const schedule = globalSchedule(raw, env, problems);
  const durability = resolveDurability(raw.durability, env, problems);
  const cipher = resolveEncryption(raw.encryption, env, problems);
  const listed = typeof raw.sources === "object" && raw.sources !== null ? Object.entries(raw.sources) : [];
  if (checked.success && listed.length === 0) problems.push("sources: name at least one source");
  const sources = new Map<string, ResolvedSource>();
  for (const [name, candidate] of listed) {
    const source = v.safeParse(sourceSchema, candidate);
    if (!source.success) {
      problems.push(...source.issues.map((issue) => describeIssue(issue, ["sources", name])));
    } else {
      const { limits, dedupeMs } = source.output as SourceConfig;
      for (const problem of [limitsProblem(limits), dedupeProblem(dedupeMs, durability)]) {
        if (problem) problems.push(`sources.${name}.${problem}`);
      }
    }
    const readable = source.success ? source : v.safeParse(signingSchema, candidate);
    if (!readable.success) continue;
    const typed = readable.output as SourceConfig<ProviderName | Provider>;
    const resolved = resolveSource(name, typed, schedule, env, problems);
    if (resolved) sources.set(name, resolved);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { sources, queue, prefix, durability, cipher };
}

function globalSchedule(config: Partial<AnvilConfig>, env: Environment, problems: string[]): RetrySchedule {
  const text = env.ANVIL_RETRY_SCHEDULE;
  if (text !== undefined && text.trim() !== "") {
    try {
      return parseRetrySchedule(text);
    } catch (error) {
      problems.push(`ANVIL_RETRY_SCHEDULE: ${(error as Error).message}`);
    }
  }
  return config.retry?.schedule ?? DEFAULT_RETRY_SCHEDULE;
}

function resolveSource(
  name: string,
  source: SourceConfig<ProviderName | Provider>,
  schedule: RetrySchedule,
  env: Environment,
  problems: string[],
): ResolvedSource | undefined {
  const at = `sources.${name}`;
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/i.test(name)) {
    problems.push(`${at}: a source's name is part of its URL; use up to 64 letters, digits, "-" and "_"`);
  }
  const provider = typeof source.provider === "string" ? providers.get(source.provider) : source.provider;
  if (!provider) return undefined;
  const unsound = typeof source.provider === "string" ? [] : providerProblems(source.provider);
  if (unsound.length > 0) {
    problems.push(...unsound.map((problem) => `${at}.${problem}`));
    return undefined;
  }

  const secrets: string[] = [];
  const add = (secret: Secret, setting: string, optional: boolean) => {
    const value =
      typeof secret === "string" ? secret : Object.hasOwn(env, secret.env) ? env[secret.env] : undefined;
    const called = typeof secret === "string" ? setting : secret.env;
    if (optional && (value === undefined || value === "")) return;
    const whose = `(the secret of source "${name}", provider ${provider.name})`;
    const problem =
      value === undefined
        ? "is not set"
        : (secretProblem(value) ?? provider.secretProblem?.(value) ?? otherSecretProblem(value));
    const [key] =
      value === undefined || problem ? [] : keyedSchemes(provider, [value]).flatMap(({ keys }) => keys);
    if (problem) problems.push(`${called} ${problem} ${whose}`);
    else if (!key) problems.push(`${called} is not ${secretForm(provider)} ${whose}`);
    else if (key instanceof Uint8Array && key.length < MIN_SECRET_LENGTH)
      problems.push(`${called} is base64 of fewer than ${MIN_SECRET_LENGTH} bytes ${whose}`);
    else secrets.push(value as string);
  };
  const listed = Array.isArray(source.secret)
    ? (source.secret as readonly Secret[])
    : [source.secret as Secret];
  if (listed.length === 0) problems.push(`${at}.secret: name at least one secret`);
  for (const [index, secret] of listed.entries()) {
    add(secret, listed.length === 1 ? `${at}.secret` : `${at}.secret[${index}]`, false);
  }
  if (source.previousSecret !== undefined) add(source.previousSecret, `${at}.previousSecret`, true);

  if (schemesOf(provider).some(signsUrl) && source.url === undefined) {
    problems.push(
      `${at}.url: ${provider.name} signs the URL; give the public one that it was told, as in https://hooks.example.com/webhooks/${name}`,
    );
  }
  if (source.split && !provider.batch) {
    problems.push(`${at}.split: ${provider.name} sends no lists of events that could be split`);
  }
  const verifyToken = readVerifyToken(source.verifyToken, `${at}.verifyToken`, env, problems);
  const limits = resolveLimits(source.limits);
  return {
    name,
    provider,
    schemes: keyedSchemes(provider, secrets),
    secrets,
    publicUrl: source.url ?? "",
    identity: source.identity ?? "provider",
    split: source.split ?? false,
    handshake: {
      secrets,
      ...(verifyToken === undefined ? {} : { verifyToken }),
      ...(source.topics ? { topics: source.topics } : {}),
    },
    schedule: source.retry?.schedule ?? schedule,
    dedupeMs: source.dedupeMs ?? DEFAULT_DEDUPE_MS,
    bodyLimit: source.bodyLimit ?? DEFAULT_BODY_LIMIT,
    onDeadRedelivery: source.onDeadRedelivery ?? "keep",
    ...(limits ? { limits } : {}),
  };
}

function readVerifyToken(
  token: Secret | undefined,
  setting: string,
  env: Environment,
  problems: string[],
): string | undefined {
  if (token === undefined) return undefined;
  const value =
    typeof token === "string" ? token : Object.hasOwn(env, token.env) ? env[token.env] : undefined;
  const problem = value === undefined ? "is not set" : secretProblem(value);
  if (problem) problems.push(`${typeof token === "string" ? setting : token.env} ${problem} (${setting})`);
  return value;
}

/** Says where and what, and for a misspelt key which ones there are. Never repeats a value: it may be a secret. */
function describeIssue(issue: v.BaseIssue<unknown>, at: readonly string[]): string {
  // The name of an unknown setting may be a secret, too.
  const inner = v
    .getDotPath(issue)
    ?.split(".")
    .map((name) => (/^[\w-]{1,24}$/.test(name) ? name : "(a name not shown)"))
    .join(".");
  const path = [...at, ...(inner ? [inner] : [])].join(".") || "the configuration";
  if (issue.type === "strict_object" && issue.expected === "never") {
    const around = at.length > 0 ? sourceSchema.entries : configSchema.entries;
    const nested = { retry: retrySchema, limits: limitsSchema };
    const [outer = "", setting] = inner?.split(".") ?? [];
    const known = (setting && nested[outer as keyof typeof nested]?.entries) || around;
    return `${path}: unknown setting; known are ${Object.keys(known).join(", ")}`;
  }
  if (issue.received === "undefined") return `${path}: is missing`;
  return `${path}: ${issue.message}`;
}
