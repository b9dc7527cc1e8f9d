import type { Cipher } from "../contract/cipher.ts";
import { headerLookup } from "../signatures/headers.ts";
import type { Head, Received } from "../signatures/received.ts";
import { type FetchKey, KeyUnavailable } from "../signatures/schemes/engine.ts";
import type { ResolvedSource } from "../signatures/sources.ts";
import { checkHead, type Verified, verifyReceived } from "../signatures/verify.ts";
import { INVALID_SIGNATURE, refusal } from "./answers.ts";
import type { BodyBudget, BodyShare } from "./body-budget.ts";
import { type GreetContext, greet, greetSigned, greetSignedOtherwise, greetUnsigned } from "./greet.ts";
import { readBody } from "./read-body.ts";
import { retryHeaders } from "./retry-headers.ts";
import { type StoreContext, storeEvents } from "./store-events.ts";
import { toEnvelopes } from "./to-envelopes.ts";

export type ReceiveContext = StoreContext &
  GreetContext & {
    /** Encrypts bodies where it has a current key. */
    readonly cipher: Cipher | undefined;
    readonly bodyTimeoutMs: number;
    /** Shared by all requests of the ingress. */
    readonly bodies: BodyBudget;
    /** Gets the certificates and keys that some providers sign with. */
    readonly fetchKey: FetchKey;
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
  const greeted = greet(request, source, context);
  if (greeted) return greeted;

  // Before the body: whoever can't even claim a signature doesn't get to send 25 MB.
  const head: Head = { method: request.method, url: publicUrl(source, request.url), header };
  const refused = checkHead(source.schemes, head, receivedAt);
  if (refused) {
    const answer = await greetUnsigned(refused.reason, { request, header, share }, source, context);
    return answer ?? unverified(source, refused.reason, context);
  }
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

  const received: Received = { ...head, body: body.bytes };
  const verified = await verify(source, received, receivedAt, context);
  if (verified instanceof Response) return verified;
  const answer = await greetSigned(received, source, context);
  if (answer) return answer;
  const envelopes = toEnvelopes(source, verified, received, receivedAt, context.cipher, context.log);
  return storeEvents(envelopes, received, source, context, retryHeaders(request.headers));
}

/**
 * The public URL with the query of this very request, to which a provider may add: Twilio the hash of the body. The
 * rest of the request's own URL is a proxy's.
 */
function publicUrl({ publicUrl: configured }: ResolvedSource, requested: string): string {
  const at = requested.indexOf("?");
  if (configured === "" || at < 0) return configured;
  return configured.replace(/\?.*$/, "") + requested.slice(at).replace(/#.*$/, "");
}

async function verify(
  source: ResolvedSource,
  received: Received,
  nowMs: number,
  context: ReceiveContext,
): Promise<Verified | Response> {
  try {
    const moment = { nowMs, fetchKey: context.fetchKey };
    const verdict = await verifyReceived(source.provider, source.schemes, received, moment);
    if (verdict.ok) return verdict;
    const answer = greetSignedOtherwise(verdict.reason, received, source, context);
    return answer ?? unverified(source, verdict.reason, context);
  } catch (error) {
    if (!(error instanceof KeyUnavailable)) throw error;
    context.log.error({ source: source.name, reason: error.message }, "no verdict: answered 503");
    return refusal("not_verified", "The provider's key could not be fetched; send it again");
  }
}

function unverified(source: ResolvedSource, reason: string, { refusals }: ReceiveContext): Response {
  refusals.refused({ source: source.name, provider: source.provider.name, reason }, "signature refused");
  return refusal("invalid_signature", INVALID_SIGNATURE);
}
