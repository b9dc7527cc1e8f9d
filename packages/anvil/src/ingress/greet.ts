import type { Log } from "../contract/log.ts";
import { type HandshakeAnswer, plainMethods } from "../signatures/handshakes/handshake.ts";
import { handshakeOf } from "../signatures/handshakes/index.ts";
import { type HeaderLookup, headerLookup } from "../signatures/headers.ts";
import type { Received } from "../signatures/received.ts";
import type { ResolvedSource } from "../signatures/sources.ts";
import type { RefusalReason } from "../signatures/verdict.ts";
import { refusal } from "./answers.ts";
import type { BodyShare } from "./body-budget.ts";
import { readBody } from "./read-body.ts";
import type { RefusalLog } from "./refusal-log.ts";

export type GreetContext = {
  readonly bodyTimeoutMs: number;
  readonly log: Log;
  readonly refusals: RefusalLog;
  /** Calls a URL that a provider wants to see called. Rejects when that wasn't possible. */
  readonly visit: (url: string) => Promise<void>;
};

/** A handshake is a few words; nothing unsigned gets to send more. */
const UNSIGNED_LIMIT = 4_096;

/** Whether a method beside POST belongs to the handshake of a source's provider. */
export function greetsBy(source: ResolvedSource, method: string): boolean {
  return plainMethods(handshakeOf(source.provider)).includes(method);
}

/** Answers what a provider asks without a signature, by method, URL and headers; undefined when it asks nothing. */
export function greet(request: Request, source: ResolvedSource, context: GreetContext): Response | undefined {
  const asked = { method: request.method, url: request.url, header: headerLookup(request.headers) };
  const answer = handshakeOf(source.provider)?.beforeBody?.(asked, source.handshake);
  return answer && respond(answer, source, context);
}

/** The same for what is told by its body, where a delivery has no signature at all. */
export async function greetUnsigned(
  reason: RefusalReason,
  { request, header, share }: { request: Request; header: HeaderLookup; share: BodyShare },
  source: ResolvedSource,
  context: GreetContext,
): Promise<Response | undefined> {
  const unsigned = handshakeOf(source.provider)?.unsigned;
  if (!unsigned || reason !== "missing_signature") return undefined;
  const limits = {
    limit: Math.min(UNSIGNED_LIMIT, source.bodyLimit),
    timeoutMs: context.bodyTimeoutMs,
    share,
  };
  const body = await readBody(request, limits);
  if (!body.ok) return undefined;
  const received = { method: request.method, url: request.url, header, body: body.bytes };
  const answer = unsigned(received, source.handshake);
  return answer && respond(answer, source, context);
}

/** Where the signature is there, and isn't made with the source's secret. */
export function greetSignedOtherwise(
  reason: RefusalReason,
  received: Received,
  source: ResolvedSource,
  context: GreetContext,
): Response | undefined {
  const answer =
    reason === "wrong_signature"
      ? handshakeOf(source.provider)?.signedOtherwise?.(received, source.handshake)
      : undefined;
  return answer && respond(answer, source, context);
}

/** And for what is signed, and wants an answer of its own instead of being stored. */
export async function greetSigned(
  received: Received,
  source: ResolvedSource,
  context: GreetContext,
): Promise<Response | undefined> {
  const answer = handshakeOf(source.provider)?.signed?.(received, source.handshake);
  if (!answer) return undefined;
  if (!("visit" in answer)) return respond(answer, source, context);
  try {
    await context.visit(answer.visit);
  } catch (error) {
    context.log.error(
      { source: source.name, reason: (error as Error).message },
      "handshake not finished: answered 503",
    );
    return refusal("not_verified", "The subscription could not be confirmed; send it again");
  }
  return respond(answer.answer, source, context);
}

function respond(
  { status, headers, body }: HandshakeAnswer,
  source: ResolvedSource,
  { log, refusals }: GreetContext,
): Response {
  const about = { source: source.name, provider: source.provider.name };
  if (status < 300) log.info({ ...about, status }, "handshake answered");
  else refusals.refused({ ...about, reason: "handshake" }, "handshake refused");
  return new Response(body === "" ? null : body, { status, headers: { ...headers } });
}
