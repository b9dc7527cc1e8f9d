/** Every code that a sender can be answered with. Stable: never renamed, never reused. */
export type AnswerCode =
  | "bad_request"
  | "invalid_signature"
  | "not_found"
  | "unknown_source"
  | "method_not_allowed"
  | "body_timeout"
  | "body_too_large"
  | "unsupported_encoding"
  | "rate_limited"
  | "queue_full"
  | "not_stored"
  | "not_verified"
  | "overloaded"
  | "internal_error";

const STATUS: Readonly<Record<AnswerCode, number>> = {
  bad_request: 400,
  invalid_signature: 401,
  not_found: 404,
  unknown_source: 404,
  method_not_allowed: 405,
  body_timeout: 408,
  body_too_large: 413,
  unsupported_encoding: 415,
  rate_limited: 429,
  internal_error: 500,
  queue_full: 503,
  not_stored: 503,
  not_verified: 503,
  overloaded: 503,
};

/** The same whatever is wrong with it. */
export const INVALID_SIGNATURE = "The signature of this delivery is missing or not valid";

/** Seconds until a sender should try again after a 503. Providers that heed Retry-After come back sooner. */
const RETRY_AFTER_S = 5;

/** `{"error":{"code","message"}}`. The message never says which check of a signature failed. */
export function refusal(code: AnswerCode, message: string, headers: Record<string, string> = {}): Response {
  return Response.json(
    { error: { code, message } },
    {
      status: STATUS[code],
      headers: { ...(STATUS[code] === 503 ? { "retry-after": String(RETRY_AFTER_S) } : {}), ...headers },
    },
  );
}

/** The 202: stored, now or before. */
export function accepted(
  stored: { readonly jobId: string; readonly jobIds?: readonly string[]; readonly replayed: boolean },
  headers: Record<string, string> = {},
): Response {
  return Response.json(stored, { status: 202, headers });
}
