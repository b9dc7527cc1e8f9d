import { Redis } from "@upstash/redis";
import { AnvilError, ConfigError } from "../contract/errors.ts";
import type { Log } from "../contract/log.ts";
import type { Deadline } from "./deadline.ts";
import { enqueue } from "./enqueue.ts";
import { enqueueAll } from "./enqueue-all.ts";
import type { EventStore } from "./event-store.ts";
import { type QueuePlace, queueKeys } from "./queue-place.ts";
import { restScripts } from "./rest-scripts.ts";
import type { ScriptRunner } from "./run-script.ts";
import { unbury } from "./unbury.ts";

/** An Upstash database by its REST interface. */
export type RestTarget = {
  /** UPSTASH_REDIS_REST_URL. */
  readonly url: string;
  /** UPSTASH_REDIS_REST_TOKEN. */
  readonly token: string;
};

/** Between two tries, in milliseconds: long enough not to hammer, short against the deadline. */
const PAUSE_MS = 50;

/**
 * The event store over HTTP: no connection to keep, so it suits functions without a VPC. One request for an
 * event. Workers use the same database over TCP.
 * @param deadlineMs the deadline that its callers work under: one request may take half of it
 * @throws {ConfigError} when url or token can't be used; it repeats neither
 */
export function restStore(target: RestTarget, place: QueuePlace, deadlineMs: number, log: Log): EventStore {
  checkTarget(target);
  const redis = new Redis({
    url: target.url,
    token: target.token,
    // We try again ourselves, within the deadline.
    retry: { retries: 0 },
    // As a function: given a plain signal, the client answers an abort with a made-up result.
    signal: () => AbortSignal.timeout(Math.max(50, Math.floor(deadlineMs / 2))),
    automaticDeserialization: false,
    enableAutoPipelining: false,
    enableTelemetry: false,
    readYourWrites: false,
  });
  const scripts = restScripts(redis);

  async function run<T>(deadline: Deadline, request: (scripts: ScriptRunner) => Promise<T>): Promise<T> {
    let last = "";
    const late = () => unavailable(`gave no answer in time${last ? ` (${last})` : ""}`);
    for (;;) {
      try {
        return await deadline.race(request(scripts), late);
      } catch (error) {
        if (error instanceof AnvilError) throw error;
        const trouble = classify(error as Error);
        if (trouble.kind === "too_large") {
          throw new AnvilError(
            "event_too_large",
            "The event is larger than the Redis plan lets a request be",
          );
        }
        if (trouble.kind === "refused") throw unavailable(`refused the command: ${trouble.reason}`);
        if (last !== trouble.reason)
          log.warn({ reason: trouble.reason }, "Redis REST request failed; trying again");
        last = trouble.reason;
        if (deadline.remainingMs() < PAUSE_MS * 2) throw late();
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  return {
    enqueue: (deadline, job) => run(deadline, (runner) => enqueue(runner, place, job)),
    enqueueAll: (deadline, jobs) => run(deadline, (runner) => enqueueAll(runner, place, jobs)),
    // There is no command to wait with; createServer refuses such a durability.
    async confirm() {},
    isDead: (deadline, jobId) =>
      run(deadline, async () => (await redis.zscore(queueKeys(place).dead("failed"), jobId)) !== null),
    unbury: (deadline, jobId, token, record) =>
      run(deadline, (runner) => unbury(runner, place, jobId, token, record)),
    async probe(deadline) {
      await run(deadline, () => redis.set(queueKeys(place).main("ready-probe"), "1", { px: 1000 }));
    },
    // Upstash answers no CONFIG; its eviction is a switch of the database, off by default.
    warnings: async () => [],
    async checkDurability() {},
    async close() {},
  };
}

function unavailable(what: string): AnvilError {
  return new AnvilError("redis_unavailable", `Redis over REST ${what}`);
}

type Trouble = { readonly kind: "transient" | "refused" | "too_large"; readonly reason: string };

/**
 * The client's messages quote the whole command, and so the event's body; what is kept of them is the error's
 * code alone. It doesn't tell the HTTP status: an error in Redis's words is a refusal, everything else (network,
 * a gateway's page) may pass.
 */
function classify(error: Error): Trouble {
  if (error.name === "UpstashError") {
    if (/max request size/i.test(error.message.slice(0, 200)))
      return { kind: "too_large", reason: "too large" };
    const code = /^(?:ERR_)?([A-Z]{2,})(?= |,|$)/.exec(error.message)?.[1];
    return { kind: "refused", reason: code ?? "an error of the service" };
  }
  if (error.name === "UpstashJSONParseError") return { kind: "transient", reason: "no JSON" };
  if (error.name === "TimeoutError" || error.name === "AbortError")
    return { kind: "transient", reason: "timeout" };
  const cause = error.cause as { code?: unknown } | undefined;
  return { kind: "transient", reason: typeof cause?.code === "string" ? cause.code : error.name };
}

function checkTarget({ url, token }: RestTarget): void {
  const problems: string[] = [];
  if (!/^https?:\/\/[^\s/]+/.test(url)) {
    problems.push(
      "UPSTASH_REDIS_REST_URL: starts with https:// and a host; copy it from the database's page",
    );
  }
  if (token.trim() === "" || /\s/.test(token)) {
    problems.push("UPSTASH_REDIS_REST_TOKEN: is empty or has white space in it");
  }
  if (problems.length > 0) throw new ConfigError(problems);
}
