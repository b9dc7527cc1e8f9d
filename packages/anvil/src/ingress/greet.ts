import type { Log } from "../contract/log.ts";
import { type HandshakeAnswer, plainMethods } from "../signatures/handshakes/handshake.ts";
import { handshakeOf } from "../signatures/handshakes/index.ts";
import { type HeaderLookup, headerLookup } from "../signatures/headers.ts";
import type { Received } from "../signatures/received.ts";
import type { ResolvedSource } from "../signatures/sources.ts";
import { refusal } from "./answers.ts";
import type { BodyShare } from "./body-budget.ts";
import { readBody } from "./read-body.ts";

export type GreetContext = {
  readonly bodyTimeoutMs: number;
  readonly log: Log;
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
export function greet(request: Request, source: ResolvedSource, { log }: GreetContext): Response | undefined {
  const asked = { method: request.method, url: request.url, header: headerLookup(request.headers) };
  const answer = handshakeOf(source.provider)?.beforeBody?.(asked, source.handshake);
  return answer && respond(answer, source, log);
}

/** The same for what is told by its body, where a delivery has no signature at all. */
export async function greetUnsigned(
  reason: string,
  { request, header, share }: { request: Request; header: HeaderLookup; share: BodyShare },
  source: ResolvedSource,
  { bodyTimeoutMs, log }: GreetContext,
): Promise<Response | undefined> {
  const unsigned = handshakeOf(source.provider)?.unsigned;
  if (!unsigned || reason !== "missing_signature") return undefined;
  const limits = { limit: Math.min(UNSIGNED_LIMIT, source.bodyLimit), timeoutMs: bodyTimeoutMs, share };
  const body = await readBody(request, limits);
  if (!body.ok) return undefined;
  const received = { method: request.method, url: request.url, header, body: body.bytes };
  const answer = unsigned(received, source.handshake);
  return answer && respond(answer, source, log);
}

/** And for what is signed, and wants an answer of its own instead of being stored. */
export async function greetSigned(
  received: Received,
  source: ResolvedSource,
  { log, visit }: GreetContext,
): Promise<Response | undefined> {
  const answer = handshakeOf(source.provider)?.signed?.(received, source.handshake);
  if (!answer) return undefined;
  if (!("visit" in answer)) return respond(answer, source, log);
  try {
    await visit(answer.visit);
  } catch (error) {
    log.error(
      { source: source.name, reason: (error as Error).message },
      "handshake not finished: answered 503",
    );
    return refusal("not_verified", "The subscription could not be confirmed; send it again");
  }
  return respond(answer.answer, source, log);
}

function respond({ status, headers, body }: HandshakeAnswer, source: ResolvedSource, log: Log): Response {
  const about = { source: source.name, provider: source.provider.name, status };
  if (status < 300) log.info(about, "handshake answered");
  else log.warn(about, "handshake refused");
  return new Response(body === "" ? null : body, { status, headers: { ...headers } });
}
