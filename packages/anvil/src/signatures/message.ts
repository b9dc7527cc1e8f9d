import type { HeaderLookup } from "./headers.ts";

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
