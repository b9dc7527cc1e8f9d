import type { BodyShare } from "./body-budget.ts";
import { growingBytes } from "./growing-bytes.ts";

export type BodyLimits = {
  /** Bytes. */
  readonly limit: number;
  /** Milliseconds for the whole body. */
  readonly timeoutMs: number;
  /** Asked for what the body takes, while it grows. Released by the caller, who goes on holding the bytes. */
  readonly share: BodyShare;
};

export type BodyRead =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | {
      readonly ok: false;
      readonly reason: "too_large" | "too_many_pieces" | "timeout" | "aborted" | "overloaded";
    };

/**
 * A piece costs some 10 µs whatever its size, so a sender of one-byte chunks at full speed would take all of a core.
 * What is left of those who stream on purpose is a long way from this.
 */
const FREE_PIECES = 1_000;
const LEAST_PIECE_BYTES = 64;

/**
 * Reads a body's bytes as they came. The limits hold while reading: a body without a length, or with a false
 * one, is dropped at the first byte too many and never held whole.
 */
export async function readBody(request: Request, limits: BodyLimits): Promise<BodyRead> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > limits.limit) return { ok: false, reason: "too_large" };
  const stream = bodyOf(request);
  if (stream === "unreadable") return { ok: false, reason: "aborted" };
  if (!stream) return { ok: true, bytes: new Uint8Array() };

  const reader = stream.getReader();
  let late = false;
  // Ends the read that is waiting. A race with a promise of the timeout would gather a reaction for each chunk.
  const timer = setTimeout(() => {
    late = true;
    reader.cancel().catch(() => {});
  }, limits.timeoutMs);
  const body = growingBytes(limits.limit, (bytes) => limits.share.hold(bytes));
  let size = 0;
  let pieces = 0;
  try {
    for (;;) {
      const next = await reader.read();
      if (late) return { ok: false, reason: "timeout" };
      if (next.done) return { ok: true, bytes: body.bytes() };
      size += next.value.byteLength;
      pieces += 1;
      if (pieces > FREE_PIECES + size / LEAST_PIECE_BYTES) return stop("too_many_pieces");
      if (size > limits.limit) return stop("too_large");
      if (!body.add(next.value)) return stop("overloaded");
    }
  } catch {
    // The sender went away in the middle; nobody is left to answer.
    return { ok: false, reason: "aborted" };
  } finally {
    clearTimeout(timer);
  }

  function stop(reason: "too_large" | "too_many_pieces" | "overloaded"): BodyRead {
    reader.cancel().catch(() => {});
    return { ok: false, reason };
  }
}

/** The Node adapter makes the whole request here, and throws for a URL that holds a user and a password. */
function bodyOf(request: Request): ReadableStream<Uint8Array> | null | "unreadable" {
  try {
    return request.body;
  } catch {
    return "unreadable";
  }
}
