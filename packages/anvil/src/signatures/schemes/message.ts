import { formOf, sortedForm } from "../form.ts";
import { textAt } from "../json-path.ts";
import { lazyPayload } from "../payload-of.ts";
import type { HmacScheme, PublicKeyScheme } from "../provider.ts";
import type { Received } from "../received.ts";

/** One piece of what is signed. */
type Piece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "body" | "timestamp" | "method" | "url" | "unescaped-url" | "form" | "secret" }
  | { readonly kind: "header" | "field"; readonly name: string };

export type SignedValues = {
  readonly received: Received;
  readonly timestamp?: string | undefined;
  /** For a plain hash. */
  readonly secret?: Uint8Array;
};

const compiled = new Map<string, readonly Piece[]>();
const KNOWN =
  "{body}, {timestamp}, {method}, {url}, {unescaped-url}, {form}, {secret}, {header:name}, {field:path}";

/** Splits a template such as `{header:webhook-id}.{timestamp}.{body}` into its pieces, once. */
function pieces(template: string): readonly Piece[] {
  const known = compiled.get(template);
  if (known) return known;
  const result = template
    .split(/(\{[^}]*\})/)
    .filter((part) => part !== "")
    .map(toPiece);
  compiled.set(template, result);
  return result;
}

function toPiece(part: string): Piece {
  if (!part.startsWith("{")) return { kind: "text", text: part };
  const simple = /^\{(body|timestamp|method|url|unescaped-url|form|secret)\}$/.exec(part);
  if (simple) return { kind: simple[1] as "body" };
  const header = /^\{header:([a-z0-9-]+)\}$/.exec(part);
  if (header) return { kind: "header", name: header[1] as string };
  const field = /^\{field:([\w.-]+)\}$/.exec(part);
  if (field) return { kind: "field", name: field[1] as string };
  throw new Error(`Unknown part ${part} in a signed message; known are ${KNOWN}`);
}

/** What is signed by a scheme of any kind that has a template. */
export type SigningScheme = Pick<HmacScheme | PublicKeyScheme, "message" | "timestamp" | "signature"> & {
  readonly construction?: HmacScheme["construction"] | undefined;
};

/**
 * What is wrong with a row's `message`, or nothing. Checked at start, since what it leaves out is signed by
 * nobody: a body that anyone can change, a timestamp that anyone can set.
 */
export function messageProblem(scheme: SigningScheme): string | undefined {
  const { message, timestamp } = scheme;
  const templates = typeof message === "string" ? [message] : message;
  if (!Array.isArray(templates) || templates.length === 0) return "the row's scheme has no message";
  // Optional here, since a row of the user's own may lack anything.
  const inBody = Object.hasOwn((scheme.signature as object | undefined) ?? {}, "field");
  for (const template of templates as readonly unknown[]) {
    if (typeof template !== "string") return "the row's scheme has no message";
    try {
      const kinds = new Set(pieces(template).map((piece) => piece.kind));
      // A form's fields are its body; a signature inside the body can't be over all of it.
      if (!kinds.has("body") && !kinds.has("form") && !inBody) {
        return "the row's message leaves {body} out, so anyone could change it";
      }
      if (kinds.has("secret") !== (scheme.construction === "plain")) {
        return "the row's message has {secret} in it if, and only if, its construction is plain";
      }
      const signedApart = timestamp !== undefined && !("body" in timestamp.from);
      if (kinds.has("timestamp") !== signedApart) {
        return "the row's message and its timestamp go together; give both or neither";
      }
    } catch (error) {
      return (error as Error).message;
    }
  }
  return undefined;
}

type MessageProblem = "missing_signed_header" | "malformed_signed_header" | "missing_signed_part";

/**
 * Feeds what is signed to `update`, piece by piece, the body without a copy.
 * @returns why it can't: something that is part of it is missing, or would blur where it ends
 */
export function signedMessage(
  template: string,
  { received, timestamp, secret }: SignedValues,
  update: (bytes: Uint8Array | string) => void,
): MessageProblem | undefined {
  const payload = lazyPayload(received);
  let previous: Piece["kind"] | undefined;
  for (const piece of pieces(template)) {
    if (piece.kind === "text") update(piece.text);
    else if (piece.kind === "body") {
      // A digit could as well be the last one of the time: one signature, two readings.
      if (previous === "timestamp" && isDigit(received.body[0])) return "missing_signed_part";
      update(received.body);
    } else if (piece.kind === "timestamp") update(timestamp ?? "");
    else if (piece.kind === "method") update(received.method);
    else if (piece.kind === "secret") update(secret ?? "");
    else if (piece.kind === "form") {
      const form = sortedForm(formOf(received));
      // Its content type isn't signed: a body that isn't read as a form is signed by nobody.
      if (form === "" && received.body.length > 0) return "missing_signed_part";
      update(form);
    } else if (piece.kind === "url" || piece.kind === "unescaped-url") {
      if (received.url === "") return "missing_signed_part";
      update(piece.kind === "url" ? received.url : withoutSomeEscapes(received.url));
    } else if (piece.kind === "field") {
      const value = textAt(payload(), piece.name);
      if (value === undefined) return "missing_signed_part";
      update(value);
    } else if (piece.kind === "header") {
      const value = received.header(piece.name);
      if (!value) return "missing_signed_header";
      // Pieces are joined with dots. A dot or a comma inside an id would let one signature fit two readings,
      // or be two headers that a proxy joined.
      if (/[.,\s]/.test(value)) return "malformed_signed_header";
      update(value);
    }
    previous = piece.kind;
  }
  return undefined;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/**
 * The twelve escapes that HubSpot's documents undo before signing, and its SDK doesn't.
 * https://developers.hubspot.com/docs/api/webhooks/validating-requests
 */
function withoutSomeEscapes(url: string): string {
  return url.replace(/%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi, (escaped) => decodeURIComponent(escaped));
}
