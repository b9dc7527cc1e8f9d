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
  /** Something else that is signed: the URL isn't known, a field of the body isn't there. */
  | "missing_signed_part"
  /** No secret of the source is in a form that any of the provider's schemes can use. */
  | "no_key"
  /** The certificate isn't the provider's, or isn't valid now. */
  | "untrusted_certificate"
  /** Signed by SNS, for a topic that isn't ours. */
  | "other_topic"
  | "wrong_signature";

export type Refusal = { readonly ok: false; readonly reason: RefusalReason };

export function refuse(reason: RefusalReason): Refusal {
  return { ok: false, reason };
}
