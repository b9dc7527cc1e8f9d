/**
 * Why a connection failed, for the log. A server that wants TLS answers plain text by hanging up, and that says
 * nothing of the reason, so it is guessed at where no connection has ever worked.
 */
export function connectionTrouble(
  error: Error,
  { secure, worked }: { readonly secure: boolean; readonly worked: boolean },
): string {
  const hungUp = /ECONNRESET|EPIPE|Connection is closed|Socket closed/i.test(error.message);
  return hungUp && !secure && !worked
    ? `${error.message} (if this Redis wants TLS, its URL starts with rediss://)`
    : error.message;
}
