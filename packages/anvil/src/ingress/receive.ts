import { type Envelope, encodeBody } from "../contract/envelope.ts";
import { AnvilError } from "../contract/errors.ts";
import { eventKey, signatureBodyIdentity } from "../contract/event-key.ts";
import { newJobId } from "../contract/job-id.ts";
import type { Log } from "../contract/log.ts";
import { type Deadline, deadlineIn } from "../queue/deadline.ts";
import type { EventStore } from "../queue/event-store.ts";
import { type HeaderLookup, headerLookup } from "../signatures/headers.ts";
import type { ResolvedSource } from "../signatures/sources.ts";
import { readClaim, type Verified, verifyClaim } from "../signatures/verify.ts";
import { accepted, refusal } from "./answers.ts";
import { readBody } from "./read-body.ts";

export type ReceiveContext = {
  readonly events: EventStore;
  /** From the complete body to the answer, in milliseconds. */
  readonly deadlineMs: number;
  readonly bodyTimeoutMs: number;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/** One delivery, from its headers to its answer: verify, dedupe, enqueue, 202. */
export async function receive(
  request: Request,
  source: ResolvedSource,
  context: ReceiveContext,
): Promise<Response> {
  const { log } = context;
  const header = headerLookup(request.headers);
  const receivedAt = context.now();

  // Before the body: whoever can't even claim a signature doesn't get to send 25 MB.
  const claim = readClaim(source.provider, header, receivedAt);
  if (!claim.ok) return unverified(source, claim.reason, log);
  const coding = header("content-encoding")?.toLowerCase();
  if (coding !== undefined && coding !== "identity") {
    return refusal("unsupported_encoding", "Send the body without Content-Encoding; turn compression off");
  }

  const body = await readBody(request, { limit: source.bodyLimit, timeoutMs: context.bodyTimeoutMs });
  if (!body.ok) {
    log.warn({ source: source.name, reason: body.reason, limit: source.bodyLimit }, "body not read");
    if (body.reason === "too_large") {
      return refusal("body_too_large", `The body is larger than ${source.bodyLimit} bytes`);
    }
    return body.reason === "timeout"
      ? refusal("body_timeout", "The body didn't arrive in time", { connection: "close" })
      : refusal("bad_request", "The body ended early");
  }

  const verified = verifyClaim(source.provider, claim, body.bytes, source.keys, header);
  if (!verified.ok) return unverified(source, verified.reason, log);
  return storeEvent(toEnvelope(source, verified, body.bytes, header, receivedAt), source, context);
}

function unverified(source: ResolvedSource, reason: string, log: Log): Response {
  log.warn({ source: source.name, provider: source.provider.name, reason }, "signature refused");
  return refusal("invalid_signature", "The signature of this delivery is missing or not valid");
}

function toEnvelope(
  source: ResolvedSource,
  verified: Verified,
  body: Uint8Array,
  header: HeaderLookup,
  receivedAt: number,
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
  return {
    v: 1,
    source: source.name,
    key: eventKey(source.name, identity),
    ...(eventId ? { eventId } : {}),
    ...(type ? { type } : {}),
    receivedAt,
    headers,
    ...encodeBody(body),
  };
}

async function storeEvent(
  envelope: Envelope,
  source: ResolvedSource,
  context: ReceiveContext,
): Promise<Response> {
  const { events, log } = context;
  const deadline = deadlineIn(context.deadlineMs);
  const job = {
    id: newJobId(envelope.receivedAt),
    envelope,
    schedule: source.schedule,
    dedupeMs: source.dedupeMs,
  };
  const about = { source: source.name, type: envelope.type, eventId: envelope.eventId };
  try {
    // Trying again after a lost answer sends the same id: if the first try did land, it is found by it.
    const { jobId, replayed } = await events.enqueue(deadline, job);
    if (!replayed) {
      log.info({ ...about, jobId }, "stored");
      return accepted(jobId, false);
    }
    const whenDead = await handleDead(jobId, job.id, source, context, deadline);
    log.info(
      { ...about, jobId, ...(whenDead === "alive" ? {} : { deadLetter: whenDead }) },
      "delivered again",
    );
    return accepted(jobId, true, whenDead === "alive" ? {} : { [DEAD_LETTER_HEADER]: whenDead });
  } catch (error) {
    if (!(error instanceof AnvilError)) throw error;
    if (error.code === "event_too_large") {
      log.error({ ...about, reason: error.message }, "not stored: answered 413");
      return refusal("body_too_large", "The body is larger than what can be stored");
    }
    if (error.code !== "redis_unavailable") throw error;
    log.error({ ...about, reason: error.message }, "not stored: answered 503");
    return refusal("not_stored", "The event could not be stored; send it again");
  }
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
  { events }: ReceiveContext,
  deadline: Deadline,
): Promise<"alive" | "kept" | "replayed"> {
  if (source.onDeadRedelivery === "replay") {
    const result = await events.unbury(deadline, jobId, token);
    return result === "replayed" ? "replayed" : "alive";
  }
  try {
    return (await events.isDead(deadline, jobId)) ? "kept" : "alive";
  } catch {
    // The event is stored; that this can't be said doesn't change the answer.
    return "alive";
  }
}
