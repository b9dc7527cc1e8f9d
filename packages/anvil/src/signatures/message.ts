import type { HeaderLookup } from "./headers.ts";
import type { HmacScheme } from "./provider.ts";

/** One piece of what is signed. */
type Piece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "body" }
  | { readonly kind: "timestamp" }
  | { readonly kind: "header"; readonly name: string };

export type SignedValues = {
  readonly body: Uint8Array;
  readonly timestamp?: string | undefined;
  readonly header: HeaderLookup;
};

const compiled = new Map<string, readonly Piece[]>();

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
  if (part === "{body}") return { kind: "body" };
  if (part === "{timestamp}") return { kind: "timestamp" };
  const header = /^\{header:([a-z0-9-]+)\}$/.exec(part);
  if (header) return { kind: "header", name: header[1] as string };
  throw new Error(`Unknown part ${part} in a signed message; known are {body}, {timestamp}, {header:name}`);
}

/**
 * What is wrong with a row's `message`, or nothing. Checked at start, since what it leaves out is signed by
 * nobody: a body that anyone can change, a timestamp that anyone can set.
 */
export function messageProblem({ message, timestamp }: HmacScheme): string | undefined {
  if (typeof message !== "string") return "the row's scheme has no message";
  try {
    const kinds = new Set(pieces(message).map((piece) => piece.kind));
    if (!kinds.has("body")) return "the row's message leaves {body} out, so anyone could change it";
    if (kinds.has("timestamp") !== (timestamp !== undefined)) {
      return "the row's message and its timestamp go together; give both or neither";
    }
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Feeds what is signed to `update`, piece by piece, the body without a copy.
 * @returns why it can't: a header that is part of it is missing, or would blur where it ends
 */
export function signedMessage(
  template: string,
  values: SignedValues,
  update: (bytes: Uint8Array | string) => void,
): "missing_signed_header" | "malformed_signed_header" | undefined {
  for (const piece of pieces(template)) {
    if (piece.kind === "text") update(piece.text);
    else if (piece.kind === "body") update(values.body);
    else if (piece.kind === "timestamp") update(values.timestamp ?? "");
    else {
      const value = values.header(piece.name);
      if (!value) return "missing_signed_header";
      // Pieces are joined with dots. A dot or a comma inside an id would let one signature fit two readings,
      // or be two headers that a proxy joined.
      if (/[.,\s]/.test(value)) return "malformed_signed_header";
      update(value);
    }
  }
  return undefined;
}
