/**
 * Reads a verified body as JSON. A form delivery (GitHub's `application/x-www-form-urlencoded`) carries the
 * same JSON in its field `payload`. What is JSON is never read as a form: the body is signed and its content type
 * isn't, and whoever sends a captured delivery again could choose how it is read.
 * @throws {SyntaxError} when it is neither
 */
export function parsePayload(body: Uint8Array, contentType: string | undefined): unknown {
  const text = new TextDecoder().decode(body);
  try {
    return JSON.parse(text);
  } catch (error) {
    const mediaType = contentType?.split(";", 1)[0]?.trim().toLowerCase();
    const payload =
      mediaType === "application/x-www-form-urlencoded" ? new URLSearchParams(text).get("payload") : null;
    if (payload === null) throw error;
    return JSON.parse(payload);
  }
}
