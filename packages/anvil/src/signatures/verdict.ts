/** Why a delivery is refused. For the log and `anvil verify`; the sender is told `invalid_signature` only. */
export type RefusalReason =
  | "missing_signature"
  | "malformed_signature"
  | "missing_timestamp"
  | "malformed_timestamp"
  | "timestamp_too_old"
  | "timestamp_in_future"
  | "missing_signed_header"
  | "malformed_signed_header"
  | "wrong_signature";

export type Refusal = { readonly ok: false; readonly reason: RefusalReason };

export function refuse(reason: RefusalReason): Refusal {
  return { ok: false, reason };
}
