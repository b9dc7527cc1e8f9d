import type { Cipher } from "../contract/cipher.ts";
import { type Envelope, encodeBody, encryptBody } from "../contract/envelope.ts";
import { AnvilError } from "../contract/errors.ts";
import { eventKey, signatureBodyIdentity } from "../contract/event-key.ts";
import { newJobId } from "../contract/job-id.ts";
import type { Log, LogFields } from "../contract/log.ts";
import { BY_REDELIVERY, logReplay, replayRecord } from "../contract/replay-record.ts";
import { type Deadline, deadlineIn } from "../queue/deadline.ts";
import type { EventStore } from "../queue/event-store.ts";
import { LimitReached } from "../queue/limits.ts";
import { type HeaderLookup, headerLookup } from "../signatures/headers.ts";
import type { ResolvedSource } from "../signatures/sources.ts";
import { readClaim, type Verified, verifyClaim } from "../signatures/verify.ts";
import { accepted, refusal } from "./answers.ts";
import type { BodyBudget, BodyShare } from "./body-budget.ts";
import { readBody } from "./read-body.ts";
import type { RefusalLog } from "./refusal-log.ts";
import { retryHeaders } from "./retry-headers.ts";

export type ReceiveContext = {
  readonly events: EventStore;
  /** Encrypts bodies where it has a current key. */
  readonly cipher: Cipher | undefined;
  /** From the complete body to the answer, in milliseconds. */
  readonly deadlineMs: number;
  readonly bodyTimeoutMs: number;
  /** Shared by all requests of the ingress. */
  readonly bodies: BodyBudget;
  readonly log: Log;
  readonly refusals: RefusalLog;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/** One delivery, from its headers to its answer: verify, dedupe, enqueue, 202. */
export async function receive(
  request: Request,
  source: ResolvedSource,
  context: ReceiveContext,
): Promise<Response> {
  const share = context.bodies.share();
  try {
    return await receiveWithin(share, request, source, context);
  } finally {
    share.release();
  }
}

async function receiveWithin(
  share: BodyShare,
  request: Request,
  source: ResolvedSource,
  context: ReceiveContext,
): Promise<Response> {
  const header = headerLookup(request.headers);
  const receivedAt = context.now();

  // Before the body: whoever can't even claim a signature doesn't get to send 25 MB.
  const claim = readClaim(source.provider, header, receivedAt);
  if (!claim.ok) return unverified(source, claim.reason, context);
  const coding = header("content-encoding")?.toLowerCase();
  if (coding !== undefined && coding !== "identity") {
    context.refusals.refused({ source: source.name, reason: "content_encoding" }, "body not read");
    return refusal("unsupported_encoding", "Send the body without Content-Encoding; turn compression off");
  }

  const limits = { limit: source.bodyLimit, timeoutMs: context.bodyTimeoutMs, share };
  const body = await readBody(request, limits);
  if (!body.ok) {
    context.refusals.refused(
      { source: source.name, reason: body.reason, limit: source.bodyLimit },
      "body not read",
    );
    if (body.reason === "too_large") {
      return refusal("body_too_large", `The body is larger than ${source.bodyLimit} bytes`);
    }
    if (body.reason === "too_many_pieces") {
      return refusal("bad_request", "The body comes in too many small chunks", { connection: "close" });
    }
    if (body.reason === "overloaded") {
      return refusal("overloaded", "Too many large bodies at once; send it again", { connection: "close" });
    }
    return body.reason === "timeout"
      ? refusal("body_timeout", "The body didn't arrive in time", { connection: "close" })
      : refusal("bad_request", "The body ended early");
  }

  const verified = verifyClaim(source.provider, claim, body.bytes, source.keys, header);
  if (!verified.ok) return unverified(source, verified.reason, context);
  const envelope = toEnvelope(source, verified, body.bytes, header, receivedAt, context.cipher);
  return storeEvent(envelope, source, context, retryHeaders(request.headers));
}

function unverified(source: ResolvedSource, reason: string, { refusals }: ReceiveContext): Response {
  refusals.refused({ source: source.name, provider: source.provider.name, reason }, "signature refused");
  return refusal("invalid_signature", "The signature of this delivery is missing or not valid");
}

function toEnvelope(
  source: ResolvedSource,
  verified: Verified,
  body: Uint8Array,
  header: HeaderLookup,
  receivedAt: number,
  cipher: Cipher | undefined,
): Envelope {
  const { eventId, type, signature } = verified;
  const identity = eventId
    ? ({ kind: "provider", value: eventId } as const)
    : signatureBodyIdentity(signature, body);
  const headers: Record<string, string> = {};
  for (const name of ["content-type", ...source.provider.keepHeaders]) {
    const value = header(name);
    if (value !== undefined) headers[name] = value;
  }
  const bound = { v: 1, source: source.name, key: eventKey(source.name, identity) } as const;
  return {
    ...bound,
    ...(eventId ? { eventId } : {}),
    ...(type ? { type } : {}),
    receivedAt,
    headers,
    ...(cipher?.keyId === undefined ? encodeBody(body) : encryptBody(body, bound, cipher)),
  };
}

async function storeEvent(
  envelope: Envelope,
  source: ResolvedSource,
  context: ReceiveContext,
  attempt: ReturnType<typeof retryHeaders>,
): Promise<Response> {
  const { events, log } = context;
  const deadline = deadlineIn(context.deadlineMs);
  const job = {
    id: newJobId(envelope.receivedAt),
    envelope,
    schedule: source.schedule,
    dedupeMs: source.dedupeMs,
    ...(source.limits ? { limits: source.limits } : {}),
  };
  const about = { source: source.name, type: envelope.type, eventId: envelope.eventId, ...attempt };
  try {
    // Trying again after a lost answer sends the same id: if the first try did land, it is found by it.
    const { jobId, replayed } = await events.enqueue(deadline, job);
    const whenDead = replayed ? await handleDead(jobId, job.id, source, context, deadline) : "alive";
    // Last, so that it covers a replay too. A repeated delivery is promised no less than the first.
    await events.confirm(deadline, { key: envelope.key, jobId });
    if (!replayed) {
      log.info({ ...about, jobId }, "stored");
      return accepted(jobId, false);
    }
    log.info(
      { ...about, jobId, ...(whenDead === "alive" ? {} : { deadLetter: whenDead }) },
      "delivered again",
    );
    return accepted(jobId, true, whenDead === "alive" ? {} : { [DEAD_LETTER_HEADER]: whenDead });
  } catch (error) {
    if (!(error instanceof AnvilError)) throw error;
    if (error instanceof LimitReached) return overLimit(error, about, log);
    if (error.code === "event_too_large") {
      log.error({ ...about, reason: error.message }, "not stored: answered 413");
      return refusal("body_too_large", "The body is larger than what can be stored");
    }
    if (error.code !== "redis_unavailable") throw error;
    log.error({ ...about, reason: error.message }, "not stored: answered 503");
    return refusal("not_stored", "The event could not be stored; send it again");
  }
}

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
  { events, log, now }: ReceiveContext,
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
