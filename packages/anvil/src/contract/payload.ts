/**
 * Reads a verified body as JSON. A form delivery (GitHub's `application/x-www-form-urlencoded`) carries the
 * same JSON in its field `payload`.
 * @throws {SyntaxError} when it is neither
 */
export function parsePayload(body: Uint8Array, contentType: string | undefined): unknown {
  const text = new TextDecoder().decode(body);
  const mediaType = contentType?.split(";", 1)[0]?.trim().toLowerCase();
  if (mediaType === "application/x-www-form-urlencoded") {
    const payload = new URLSearchParams(text).get("payload");
    if (payload !== null) return JSON.parse(payload);
  }
  return JSON.parse(text);
}
