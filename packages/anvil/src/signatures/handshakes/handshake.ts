import type { Head, Received } from "../received.ts";

/** What a provider is told in a handshake: always a text that can't be taken for a page. */
export type HandshakeAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** What the source that is asked knows. */
export type HandshakeSource = {
  /** Every secret that is valid, the current one first. */
  readonly secrets: readonly string[];
  /** Of Meta, and of WebSub's hubs: what they were told to prove themselves with. */
  readonly verifyToken?: string;
  /** Of WebSub: the topics that this source has subscribed to. */
  readonly topics?: readonly string[];
};

/**
 * How a provider makes sure that an endpoint is wanted. Each part answers only what its provider defines, and leaves
 * the rest alone by `undefined`. An answer never repeats more than a short token of plain characters, and a signed
 * answer never signs what could pass for a delivery.
 */
export type Handshake = {
  /** Methods beside POST that belong to it. */
  readonly methods?: readonly ("GET" | "HEAD")[];
  /** Requests that are unsigned, told by their method, URL and headers. */
  readonly beforeBody?: (head: Head, source: HandshakeSource) => HandshakeAnswer | undefined;
  /** Unsigned requests that are told by their body. Only asked where the signature is missing. */
  readonly unsigned?: (received: Received, source: HandshakeSource) => HandshakeAnswer | undefined;
  /** Requests whose signature is wrong because their provider signs them with something else. Holds no event. */
  readonly signedOtherwise?: (received: Received, source: HandshakeSource) => HandshakeAnswer | undefined;
  /** Deliveries whose signature is right and that want an answer of their own instead of being stored. */
  readonly signed?: (received: Received, source: HandshakeSource) => HandshakeAnswer | Visit | undefined;
  /**
   * Whether a delivery could be something that this handshake signs for anybody who asks. Then its signature proves
   * nothing, and it is refused.
   */
  readonly couldSign?: (received: Received) => boolean;
};

/** The provider wants a URL of its own to be called; then it is answered. */
type Visit = { readonly visit: string; readonly answer: HandshakeAnswer };

/** Nobody takes this for a page, whatever is in it. */
const AS_TEXT = {
  "content-type": "text/plain; charset=utf-8",
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; sandbox",
};

export function textAnswer(body: string, status = 200): HandshakeAnswer {
  return { status, headers: AS_TEXT, body };
}

export function jsonAnswer(value: unknown, status = 200): HandshakeAnswer {
  const headers = { "content-type": "application/json", "x-content-type-options": "nosniff" };
  return { status, headers, body: JSON.stringify(value) };
}

export function emptyAnswer(status = 200, headers: Readonly<Record<string, string>> = {}): HandshakeAnswer {
  return { status, headers, body: "" };
}

/** The query of a URL; a request's own, since a handshake is for whoever asks. */
export function queryOf({ url }: Pick<Head, "url">): URLSearchParams {
  const at = url.indexOf("?");
  return new URLSearchParams(at < 0 ? "" : url.slice(at + 1).replace(/#.*$/, ""));
}

/** Plain characters only: no markup, no line break, nothing that is JSON. */
export function plainToken(text: unknown, most = 500): string | undefined {
  return typeof text === "string" && text.length <= most && /^[\w.=+/~-]+$/.test(text) ? text : undefined;
}

/** The methods beside POST of a handshake, if there is one. */
export function plainMethods(handshake: Handshake | undefined): readonly string[] {
  return handshake?.methods ?? [];
}
