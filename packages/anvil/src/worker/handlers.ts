import { AnvilError, ConfigError } from "../contract/errors.ts";
import type { WebhookEvent } from "./event.ts";
import type { Step } from "./steps.ts";

export type HandlerContext = {
  /** 1 for the first run, 2 for the first retry, … */
  readonly attempt: number;
  /**
   * Aborts when the worker must stop before the handler is done, and when its lock on the job is lost.
   * Pass it on (`fetch(url, { signal })`): what runs on after that runs twice.
   */
  readonly signal: AbortSignal;
  /**
   * The same for every attempt, redelivery and replay of this event. Pass it to whatever may be done once only,
   * such as a payment API's Idempotency-Key header.
   */
  readonly idempotencyKey: string;
  /** Runs a part of the handler once for the event, and gives later runs its stored result. */
  readonly step: Step;
};

/** Resolve: done. Throw: retried by the schedule. Throw `Unrecoverable` or `RetryAfter` to steer that. */
export type Handler = (event: WebhookEvent, context: HandlerContext) => unknown;

/**
 * Handlers by source, or by source and type. The most specific one runs: the type itself, then the longest
 * `prefix.*`, then `*`; in the named source first, then under the source `*`. Where a provider's types have slashes or
 * colons, `orders/*` and `repo:*` are prefixes too.
 */
export type HandlerMap = Readonly<Record<string, Handler | Readonly<Record<string, Handler>>>>;

export type FindHandler = (event: Pick<WebhookEvent, "source" | "type">) => Handler;

/**
 * @returns a function that finds an event's handler, or throws an AnvilError with code `no_handler`: an event
 *   that nobody handles becomes a dead letter, since dropping it silently would lose it. `"*": () => {}` drops.
 * @throws {ConfigError} naming every entry that is no function
 */
export function handlerFinder(handlers: Handler | HandlerMap): FindHandler {
  if (typeof handlers === "function") return () => handlers;
  const problems = mapProblems(handlers);
  if (problems.length > 0) throw new ConfigError(problems);
  return (event) => {
    for (const source of [event.source, "*"]) {
      const entry = Object.hasOwn(handlers, source) ? handlers[source] : undefined;
      const handler = typeof entry === "function" ? entry : entry && byType(entry, event.type);
      if (handler) return handler;
    }
    throw new AnvilError(
      "no_handler",
      `No handler for ${event.source}${event.type ? `/${event.type}` : ""}; add one, or "*" for the rest, then replay`,
    );
  };
}

function byType(handlers: Readonly<Record<string, Handler>>, type = ""): Handler | undefined {
  if (Object.hasOwn(handlers, type)) return handlers[type];
  // From the handlers' patterns, not from the type's parts: a sender can put any number of dots into a type.
  const longestFirst = Object.keys(handlers)
    .filter((pattern) => /[./:]\*$/.test(pattern) && type.startsWith(pattern.slice(0, -1)))
    .sort((a, b) => b.length - a.length);
  const match = longestFirst[0] ?? "*";
  return Object.hasOwn(handlers, match) ? handlers[match] : undefined;
}

function mapProblems(handlers: unknown): string[] {
  if (typeof handlers !== "object" || handlers === null || Array.isArray(handlers)) {
    return ["handlers: a function, or an object of functions by source and type"];
  }
  const problems: string[] = [];
  for (const [source, entry] of Object.entries(handlers)) {
    if (source !== "*" && !/^[a-z0-9][a-z0-9_-]*$/i.test(source)) {
      problems.push(
        `handlers["${source}"]: is no source's name; a map is { source: { type: handler } }, ` +
          'as in { stripe: { "invoice.paid": … } }',
      );
    }
    if (typeof entry === "function") continue;
    if (typeof entry !== "object" || entry === null) {
      problems.push(`handlers.${source}: a function, or an object of functions by type`);
      continue;
    }
    for (const [type, handler] of Object.entries(entry)) {
      if (type.includes("*") && !/^(?:[^*]+[./:])?\*$/.test(type)) {
        problems.push(`handlers.${source}["${type}"]: would match nothing; write a type, "prefix.*" or "*"`);
      }
      if (typeof handler !== "function") problems.push(`handlers.${source}["${type}"]: is no function`);
    }
  }
  if (Object.keys(handlers).length === 0) problems.push("handlers: is empty; name at least one source");
  return problems;
}
