import type { Variation } from "./variation.ts";

const PRINTED =
  "The body was parsed and printed again on its way: hand the verifier the raw bytes, before any JSON parser";
const ENDING = "Something changed the end of the body: an editor or shell that saved it, trim(), or a proxy";
const LINES =
  "Line breaks were converted on the way: read and write the body as bytes, never as lines of text";

/** Of a body beyond this, in bytes, only the end is varied: each variation is a copy. */
const LARGE = 2 * 1024 * 1024;

/** Bodies as they may have been before something on the way changed them. */
export function bodyVariations(body: Uint8Array): Variation[] {
  const text = Buffer.from(body).toString("utf8");
  const found: Variation[] = [];
  const seen = new Set([Buffer.from(body).toString("latin1")]);
  const add = (change: string, cause: string, other: string | Uint8Array | undefined) => {
    if (other === undefined) return;
    const bytes = Buffer.from(other as string);
    const key = bytes.toString("latin1");
    if (seen.has(key)) return;
    seen.add(key);
    found.push({
      kind: "body",
      change,
      cause,
      apply: (trial) => ({ ...trial, request: { ...trial.request, body: bytes } }),
    });
  };

  add("with a line break added to the body's end", ENDING, `${text}\n`);
  add("with a line break (CR LF) added to the body's end", ENDING, `${text}\r\n`);
  add("without the line break at the body's end", ENDING, text.replace(/\r?\n$/, ""));
  add("without the white space around the body", ENDING, text.trim());
  if (body.length > LARGE) return found;
  add("with LF for the body's CR LF", LINES, text.replace(/\r\n/g, "\n"));
  add("with CR LF for the body's LF", LINES, text.replace(/\r?\n/g, "\r\n"));
  add(
    "without the byte order mark",
    "Something put a byte order mark in front of the body",
    text.replace(/^\ufeff/, ""),
  );
  add(
    "with a byte order mark",
    "Something cut the byte order mark off, as reading the body as text does",
    `\ufeff${text}`,
  );
  for (const [how, printed] of reprints(text))
    add(`when the body's JSON is printed ${how}`, PRINTED, printed);
  add(
    "when the body is decoded from base64",
    "The body is the event's base64: decode it first, since isBase64Encoded is true",
    /^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(text) ? Buffer.from(text, "base64") : undefined,
  );
  add(
    "when the body's UTF-8 is decoded once",
    "The body was encoded twice: it was read as Latin-1 and written as UTF-8",
    /[\u0080-\u00ff]/.test(text) && !/[^\0-\u00ff]/.test(text) ? Buffer.from(text, "latin1") : undefined,
  );
  if (/^[\w.~%+*-]+=/.test(text)) {
    const form = new URLSearchParams(text);
    add(
      "with the field payload of the form as the body",
      "The sender signed the JSON alone; here it came as a form",
      form.get("payload") ?? undefined,
    );
    add(
      "when the form is written anew",
      "The form was parsed and printed again on its way: verify the raw bytes",
      form.toString(),
    );
    add(
      "when the form is written with %20 for +",
      "The form was parsed and printed again on its way: verify the raw bytes",
      text.replace(/\+/g, "%20"),
    );
  }
  add("with an empty body", "The sender signed no body: it was sent another way, or added on the way", "");
  return found;
}

/** JSON as other programs print it. */
function reprints(text: string): [string, string][] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  const compact = JSON.stringify(value);
  const slashes = (json: string) => json.replace(/\//g, "\\/");
  return [
    ["without white space (JavaScript)", compact],
    ["with spaces after commas and colons (Python)", spaced(value)],
    ["so, with \\u escapes (Python)", escaped(spaced(value))],
    ["compact, with \\u escapes", escaped(compact)],
    ["compact, with \\/ (PHP)", slashes(compact)],
    ["compact, with \\/ and \\u escapes (PHP)", slashes(escaped(compact))],
    ["compact, with <, > and & escaped (Go)", compact.replace(/[<>&]/g, (char) => unicode(char))],
    ["with two spaces of indent", JSON.stringify(value, null, 2)],
    ["with four spaces of indent", JSON.stringify(value, null, 4)],
    ["with tabs", JSON.stringify(value, null, "\t")],
    ["compact, its names sorted", JSON.stringify(sorted(value))],
  ];
}

function spaced(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  return `{${Object.entries(value)
    .map(([name, inner]) => `${JSON.stringify(name)}: ${spaced(inner)}`)
    .join(", ")}}`;
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}

function escaped(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, unicode);
}

function unicode(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
