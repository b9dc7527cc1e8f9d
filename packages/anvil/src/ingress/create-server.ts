import { Hono } from "hono";
import { type AnvilConfig, DEFAULT_DEADLINE_MS, type Secret } from "../contract/config.ts";
import type { Environment } from "../contract/environment.ts";
import { ConfigError } from "../contract/errors.ts";
import { consoleLog, type Log } from "../contract/log.ts";
import { deadlineIn } from "../queue/deadline.ts";
import type { RedisTarget } from "../queue/redis-target.ts";
import type { RestTarget } from "../queue/rest-store.ts";
import type { Provider } from "../signatures/provider.ts";
import type { ProviderName } from "../signatures/providers/index.ts";
import type { FetchKey } from "../signatures/schemes/engine.ts";
import { type ResolvedConfig, resolveConfig } from "../signatures/sources.ts";
import { refusal } from "./answers.ts";
import { bodyBudget, DEFAULT_BODY_BUDGET } from "./body-budget.ts";
import { greet, greetsBy } from "./greet.ts";
import { httpsKeys } from "./https-keys.ts";
import { openStore } from "./open-store.ts";
import { type ReceiveContext, receive } from "./receive.ts";
import { refusalLog } from "./refusal-log.ts";
import { visitUrl } from "./visit-url.ts";

export type ServerOptions = Partial<AnvilConfig<ProviderName | Provider>> & {
  /**
   * The secret of the default source (`POST /webhooks`, header `x-signature`): short for
   * `sources: { default: { provider: "hmac", secret } }`. Several are valid at once.
   */
  readonly secret?: Secret | readonly Secret[] | undefined;
  /** Default: redis://127.0.0.1:6379. */
  readonly redis?: RedisTarget;
  /**
   * An Upstash database by its REST interface, in place of `redis`: one HTTP request for an event and no
   * connection to keep, for functions without a VPC. Workers use the same database over TCP.
   */
  readonly upstash?: RestTarget;
  /**
   * From the complete body to the answer, in milliseconds, whatever Redis does; then 503. Default: 2000.
   * Below what providers wait: the tightest known is Slack with 3 s.
   */
  readonly deadlineMs?: number;
  /** For a body to arrive, in milliseconds; then 408. Default: 15 000. */
  readonly bodyTimeoutMs?: number;
  /**
   * The bytes that all bodies together may take while their requests are unanswered; what needs more is answered
   * 503. The first 32 KiB of each are not counted. Not below the largest `bodyLimit`. Default: 256 MiB.
   */
  readonly bodyBudget?: number;
  /** Where `env("NAME")` in a secret is looked up. Pass process.env. Default: nothing. */
  readonly env?: Environment;
  /** Default: JSON lines on the console. */
  readonly log?: Log;
  /**
   * Gets the certificates and keys that PayPal, SNS and Plaid sign with. Default: over https, from their own hosts,
   * kept for a day.
   */
  readonly fetchKey?: FetchKey;
  /** Calls the URL by which SNS wants a subscription confirmed. Default: a GET over https, at SNS's own hosts. */
  readonly visit?: (url: string) => Promise<void>;
  /** The clock, in milliseconds since 1970. Default: Date.now. */
  readonly now?: () => number;
};

/** A Hono app, to be served as it is or mounted in another. */
export type Server = Hono & {
  /**
   * Asks Redis whether it can do what `durability` promises; to be awaited before listening. Settles within 3 s.
   * A Redis that can't be reached yet, or has no replica yet, is a warning in the log and no reason not to start.
   * @throws {ConfigError} when the server can't do it as it is set up: `disk` without WAITAOF or without AOF
   */
  checkDurability(): Promise<void>;
  /** Closes the connection to Redis. Requests under way are answered 503. */
  close(): Promise<void>;
};

/**
 * The ingress: verifies each delivery over its raw bytes, stores it at most once, answers 202.
 * Opens no connection before the first request.
 * @throws {ConfigError} at once, naming everything that is wrong, so that nothing ever runs without a secret
 */
export function createServer(options: ServerOptions): Server {
  const config = resolveConfig(toConfig(options), options.env);
  const { deadlineMs = DEFAULT_DEADLINE_MS, bodyTimeoutMs = 15_000, log = consoleLog } = options;
  checkLimit("deadlineMs", deadlineMs);
  checkLimit("bodyTimeoutMs", bodyTimeoutMs);
  const events = openStore(options, config, deadlineMs, log);
  const refusals = refusalLog(log);
  const context: ReceiveContext = {
    ...{ events, deadlineMs, bodyTimeoutMs, log, refusals, now: options.now ?? Date.now },
    cipher: config.cipher,
    fetchKey: options.fetchKey ?? httpsKeys(),
    visit: options.visit ?? visitUrl,
    bodies: bodyBudget(checkedBudget(options.bodyBudget, config)),
  };

  const warn = onceEach((warning) => log.warn({}, warning));

  const app = new Hono({ strict: false });
  const webhook = (request: Request, name: string) => {
    const source = config.sources.get(name);
    return source
      ? receive(request, source, context)
      : refusal("unknown_source", "No such source; the last part of the path is its name");
  };
  app.post("/webhooks", (c) => webhook(c.req.raw, "default"));
  app.post("/webhooks/:source", (c) => webhook(c.req.raw, c.req.param("source")));
  app.all("/webhooks/:source?", (c) => {
    const source = config.sources.get(c.req.param("source") ?? "default");
    if (!source) return refusal("unknown_source", "No such source; the last part of the path is its name");
    const { raw } = c.req;
    const answer = greetsBy(source, raw.method) ? greet(raw, source, context) : undefined;
    return answer ?? refusal("method_not_allowed", "Deliveries are sent with POST", { allow: "POST" });
  });
  app.get("/healthz", (c) => c.json({ ok: true }));
  app.get("/readyz", async (c) => {
    const deadline = deadlineIn(deadlineMs);
    try {
      await events.probe(deadline);
      const warnings = await events.warnings(deadline);
      warn(warnings);
      return c.json({ ok: true, ...(warnings.length > 0 ? { warnings } : {}) });
    } catch (error) {
      return c.json(
        { ok: false, error: { code: "redis_unavailable", message: (error as Error).message } },
        503,
      );
    }
  });
  app.notFound(() => refusal("not_found", "Nothing here; deliveries go to POST /webhooks/<source>"));
  app.onError((error) => {
    log.error({ error: error.name, reason: error.message }, "unexpected error: answered 500");
    return refusal("internal_error", "Something went wrong here; send it again");
  });
  return Object.assign(app, {
    checkDurability: () => events.checkDurability(deadlineIn(Math.min(deadlineMs, MAX_CHECK_MS))),
    close: () => {
      refusals.close();
      return events.close();
    },
  });
}

function toConfig(options: ServerOptions): unknown {
  const { secret, sources, retry, encryption, queue, prefix, durability } = options;
  // Named but undefined is a variable that isn't set, and must stop the start like any other missing secret.
  const named = Object.hasOwn(options, "secret") || sources === undefined;
  if (secret !== undefined && sources && Object.hasOwn(sources, "default")) {
    throw new ConfigError(["secret: the default source is in sources already; give one of the two"]);
  }
  return {
    sources: {
      ...(named ? { default: { provider: "hmac", ...(secret === undefined ? {} : { secret }) } } : {}),
      ...sources,
    },
    ...(retry === undefined ? {} : { retry }),
    ...(encryption === undefined ? {} : { encryption }),
    ...(queue === undefined ? {} : { queue }),
    ...(prefix === undefined ? {} : { prefix }),
    ...(durability === undefined ? {} : { durability }),
  };
}

/** A body that alone is more than the budget could never be read, at any time. */
function checkedBudget(value: number = DEFAULT_BODY_BUDGET, { sources }: ResolvedConfig): number {
  const least = Math.max(...[...sources.values()].map(({ bodyLimit }) => bodyLimit));
  if (!Number.isSafeInteger(value) || value < least) {
    throw new ConfigError([
      `bodyBudget: a whole number of bytes, at least the largest bodyLimit (${least}), not ${String(value)}`,
    ]);
  }
  return value;
}

/** A start isn't held up for longer by a Redis that can't be asked. */
const MAX_CHECK_MS = 3_000;

/** A health check asks every few seconds; the log needs each warning once. */
function onceEach(say: (text: string) => void): (texts: readonly string[]) => void {
  const said = new Set<string>();
  return (texts) => {
    for (const text of texts) if (!said.has(text)) say(text);
    for (const text of texts) said.add(text);
  };
}

/** Timers take no more than 2^31 − 1 milliseconds; a day is more than any of these can mean. */
const MAX_LIMIT_MS = 86_400_000;

function checkLimit(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1 || value > MAX_LIMIT_MS) {
    throw new ConfigError([
      `${name}: a whole number of milliseconds from 1 to ${MAX_LIMIT_MS}, not ${String(value)}`,
    ]);
  }
}
