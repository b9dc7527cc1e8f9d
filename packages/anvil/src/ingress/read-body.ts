export type BodyLimits = {
  /** Bytes. */
  readonly limit: number;
  /** Milliseconds for the whole body. */
  readonly timeoutMs: number;
};

export type BodyRead =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly reason: "too_large" | "timeout" | "aborted" };

/**
 * Reads a body's bytes as they came. The limit holds while reading: a body without a length, or with a false
 * one, is dropped at the first byte too many and never held whole.
 */
export async function readBody(request: Request, limits: BodyLimits): Promise<BodyRead> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > limits.limit) return { ok: false, reason: "too_large" };
  const stream = bodyOf(request);
  if (stream === "unreadable") return { ok: false, reason: "aborted" };
  if (!stream) return { ok: true, bytes: new Uint8Array() };

  const reader = stream.getReader();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<"timeout">((resolve) => {
    timer = setTimeout(() => resolve("timeout"), limits.timeoutMs);
  });
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const next = await Promise.race([reader.read(), timeout]);
      if (next === "timeout") return stop("timeout");
      if (next.done) return { ok: true, bytes: joined(chunks, size) };
      size += next.value.byteLength;
      if (size > limits.limit) return stop("too_large");
      chunks.push(next.value);
    }
  } catch {
    // The sender went away in the middle; nobody is left to answer.
    return { ok: false, reason: "aborted" };
  } finally {
    clearTimeout(timer);
  }

  function stop(reason: "too_large" | "timeout"): BodyRead {
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

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const only = chunks[0];
  if (only && chunks.length === 1) return only;
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}
