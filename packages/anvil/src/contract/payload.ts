/**
 * Reads a verified body as JSON. A form delivery (GitHub's `application/x-www-form-urlencoded`) carries the
 * same JSON in its field `payload`. What is JSON is never read as a form: the body is signed and its content type
 * isn't, and whoever sends a captured delivery again could choose how it is read.
 * @throws {SyntaxError} when it is neither. Its message never quotes the text, as JSON.parse's own does: an error
 *   goes into logs and into Redis, where no body belongs
 */
export function parsePayload(body: Uint8Array, contentType: string | undefined): unknown {
  const text = new TextDecoder().decode(body);
  const whole = parse(text);
  if (whole.ok) return whole.value;
  const mediaType = contentType?.split(";", 1)[0]?.trim().toLowerCase();
  const payload =
    mediaType === "application/x-www-form-urlencoded" ? new URLSearchParams(text).get("payload") : null;
  if (payload === null) throw new SyntaxError(`The body is no JSON${whole.where}`);
  const field = parse(payload);
  if (field.ok) return field.value;
  throw new SyntaxError(`The field "payload" of the form is no JSON${field.where}`);
}

type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly where: string };

function parse(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    if (text.trim() === "") return { ok: false, where: ": it is empty" };
    // V8 names the place at the end of some messages, after everything that it quotes.
    const position = / in JSON at position (\d{1,9})(?: \(line \d+ column \d+\))?$/.exec(
      (error as Error).message,
    )?.[1];
    return { ok: false, where: position === undefined ? "" : `; it goes wrong at character ${position}` };
  }
}
