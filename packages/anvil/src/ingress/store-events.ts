import type { Envelope } from "../contract/envelope.ts";
import { AnvilError } from "../contract/errors.ts";
import { newJobId } from "../contract/job-id.ts";
import type { Log, LogFields } from "../contract/log.ts";
import { BY_REDELIVERY, logReplay, replayRecord } from "../contract/replay-record.ts";
import { type Deadline, deadlineIn } from "../queue/deadline.ts";
import type { Enqueued, NewJob } from "../queue/enqueue.ts";
import type { EventStore } from "../queue/event-store.ts";
import { LimitReached } from "../queue/limits.ts";
import { type Once, onceWith } from "../queue/once.ts";
import { textAt } from "../signatures/json-path.ts";
import { lazyPayload } from "../signatures/payload-of.ts";
import type { Received } from "../signatures/received.ts";
import type { ResolvedSource } from "../signatures/sources.ts";
import { accepted, INVALID_SIGNATURE, refusal } from "./answers.ts";
import type { RefusalLog } from "./refusal-log.ts";
import type { retryHeaders } from "./retry-headers.ts";

export type StoreContext = {
  readonly events: EventStore;
  /** From the complete body to the answer, in milliseconds. */
  readonly deadlineMs: number;
  readonly log: Log;
  readonly refusals: RefusalLog;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/** Stores what a delivery holds, one event or all of its list, and answers for it. */
export async function storeEvents(
  envelopes: readonly Envelope[],
  received: Received,
  source: ResolvedSource,
  context: StoreContext,
  attempt: ReturnType<typeof retryHeaders>,
): Promise<Response> {
  const { events, log } = context;
  const deadline = deadlineIn(context.deadlineMs);
  const once = onceOf(envelopes, received, source);
  const jobs = envelopes.map((envelope) => toJob(envelope, source, once));
  const [first] = envelopes as [Envelope];
  const about = {
    source: source.name,
    ...(envelopes.length === 1
      ? { type: first.type, eventId: first.eventId?.slice(0, LOGGED_ID) }
      : { events: envelopes.length }),
    ...attempt,
  };
  try {
    const stored = await addAll(events, deadline, jobs);
    const letters = await Promise.all(
      stored.map(({ jobId, replayed }, index) =>
        replayed ? handleDead(jobId, (jobs[index] as NewJob).id, source, context, deadline) : "alive",
      ),
    );
    // Last, so that it covers a replay too. A repeated delivery is promised no less than the first.
    await Promise.all(
      stored.map(({ jobId }, index) =>
        events.confirm(deadline, { key: (envelopes[index] as Envelope).key, jobId }),
      ),
    );
    return answerFor(stored, letters, source, about, log);
  } catch (error) {
    if (!(error instanceof AnvilError)) throw error;
    if (error instanceof LimitReached) return overLimit(error, about, log);
    if (error.code === "token_reused") return reused(source, context);
    if (error.code === "event_too_large") {
      log.error({ ...about, reason: error.message }, "not stored: answered 413");
      return refusal("body_too_large", "The body is larger than what can be stored");
    }
    if (error.code !== "redis_unavailable") throw error;
    log.error({ ...about, reason: error.message }, "not stored: answered 503");
    return refusal("not_stored", "The event could not be stored; send it again");
  }
}

/** Of a list it is the ids of all its events. */
const LOGGED_ID = 200;

function onceOf(
  envelopes: readonly Envelope[],
  received: Received,
  { name, provider: { once } }: ResolvedSource,
): Once | undefined {
  const token = once && textAt(lazyPayload(received)(), once.body);
  const keys = envelopes.map(({ key }) => key);
  return once && token !== undefined ? onceWith(token, name, keys, once.forS * 1_000) : undefined;
}

function reused({ name, provider }: ResolvedSource, { refusals }: StoreContext): Response {
  refusals.refused({ source: name, provider: provider.name, reason: "token_reused" }, "signature refused");
  return refusal("invalid_signature", INVALID_SIGNATURE);
}

function toJob(envelope: Envelope, source: ResolvedSource, once: Once | undefined): NewJob {
  return {
    id: newJobId(envelope.receivedAt),
    envelope,
    schedule: source.schedule,
    dedupeMs: source.dedupeMs,
    ...(source.limits ? { limits: source.limits } : {}),
    ...(once ? { once } : {}),
  };
}

/** Trying again after a lost answer sends the same ids: if the first try did land, it is found by them. */
async function addAll(
  events: EventStore,
  deadline: Deadline,
  jobs: readonly NewJob[],
): Promise<readonly Enqueued[]> {
  const [only] = jobs;
  return only && jobs.length === 1
    ? [await events.enqueue(deadline, only)]
    : events.enqueueAll(deadline, jobs);
}

type Letter = Awaited<ReturnType<typeof handleDead>>;

function answerFor(
  stored: readonly Enqueued[],
  letters: readonly Letter[],
  source: ResolvedSource,
  about: LogFields,
  log: Log,
): Response {
  const ids = stored.map(({ jobId }) => jobId);
  const [jobId] = ids as [string];
  // A list is a repetition when all of it is.
  const replayed = stored.every((one) => one.replayed);
  const letter = letters.find((one) => one !== "alive");
  const named = ids.length === 1 ? { jobId } : { jobIds: ids };
  if (replayed)
    log.info({ ...about, ...named, ...(letter ? { deadLetter: letter } : {}) }, "delivered again");
  else log.info({ ...about, ...named }, "stored");
  const headers = letter ? { [DEAD_LETTER_HEADER]: letter } : {};
  const { acceptedText } = source.provider;
  if (acceptedText !== undefined) {
    const plain = { "content-type": "text/plain; charset=utf-8", [JOB_ID_HEADER]: jobId };
    return new Response(acceptedText, { status: 202, headers: { ...plain, ...headers } });
  }
  return accepted(ids.length === 1 ? { jobId, replayed } : { jobId, jobIds: ids, replayed }, headers);
}

/** Where the body of an answer is the provider's to say. */
const JOB_ID_HEADER = "x-anvil-job-id";

function overLimit({ code, message, retryAfterS }: LimitReached, about: LogFields, log: Log): Response {
  const retry = { "retry-after": String(retryAfterS) };
  if (code === "rate_limited") {
    log.warn({ ...about, reason: message }, "over the rate limit: answered 429");
    return refusal("rate_limited", "Too many events at once; send it again later", retry);
  }
  log.warn({ ...about, reason: message }, "too many waiting: answered 503");
  return refusal("queue_full", "Too many events of this source wait; send it again later", retry);
}

/** On the answer to a repeated delivery, so that pressing "Redeliver" on a dead letter is no mystery. */
const DEAD_LETTER_HEADER = "x-anvil-dead-letter";

/**
 * What a repeated delivery means for a dead letter. One cheap question to Redis: retries come in storms, and then
 * the queue is long.
 * @throws {AnvilError} where the source wants dead letters replayed and it isn't known whether this one was
 */
async function handleDead(
  jobId: string,
  token: string,
  source: ResolvedSource,
  { events, log, now }: StoreContext,
  deadline: Deadline,
): Promise<"alive" | "kept" | "replayed"> {
  if (source.onDeadRedelivery === "replay") {
    const record = replayRecord(BY_REDELIVERY, now());
    const result = await events.unbury(deadline, jobId, token, record);
    if (result !== "replayed") return "alive";
    logReplay(log, jobId, record);
    return "replayed";
  }
  try {
    return (await events.isDead(deadline, jobId)) ? "kept" : "alive";
  } catch {
    // The event is stored; that this can't be said doesn't change the answer.
    return "alive";
  }
}
