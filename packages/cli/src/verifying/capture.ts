/** A request as somebody has written it down. */
export type Capture = {
  readonly method: string;
  /** Of the request itself; a proxy may have changed it. Empty where nothing tells it. */
  readonly url: string;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: Uint8Array;
  /** What is odd about the capture itself, and may be why it doesn't verify. */
  readonly notes: readonly string[];
};

/**
 * Reads a captured request in any form that people have: raw HTTP/1.1, a trace of curl, an event of a function URL
 * (payload 2.0), or JSON with `method`, `url`, `headers` and `body` or `bodyBase64`.
 * @throws {SyntaxError} when it is none of these; the message never repeats what is in the file
 */
export function readCapture(bytes: Uint8Array): Capture {
  const start = Buffer.from(bytes.subarray(0, 4_096))
    .toString("latin1")
    .replace(/^\u00ef\u00bb\u00bf/, "")
    .trimStart();
  if (start.startsWith("{")) return readJson(new TextDecoder().decode(bytes));
  if (/^(?:=>|==|<=|\d\d:\d\d)/.test(start) && Buffer.from(bytes).includes("=> Send header")) {
    return readHttp(traceBytes(Buffer.from(bytes).toString("latin1")));
  }
  if (REQUEST_LINE.test(start)) return readHttp(bytes);
  throw new SyntaxError(
    "it is neither HTTP (POST /path HTTP/1.1, headers, an empty line, the body) nor JSON with headers and a body",
  );
}

const REQUEST_LINE = /^([A-Z]{3,10}) (\S+) HTTP\/\d(?:\.\d)?\r?(?:\n|$)/;

function readHttp(bytes: Uint8Array): Capture {
  const buffer = Buffer.from(bytes);
  const end = /\r?\n\r?\n/.exec(buffer.toString("latin1"));
  const head = buffer
    .subarray(0, end?.index ?? buffer.length)
    .toString("utf8")
    .trimStart();
  const [, method = "POST", target = ""] = REQUEST_LINE.exec(`${head}\n`) ?? [];
  const headers: Record<string, string[]> = {};
  for (const line of head.split(/\r?\n/).slice(1)) {
    const at = line.indexOf(":");
    if (at > 0) add(headers, line.slice(0, at), line.slice(at + 1));
  }
  const rest = end ? buffer.subarray(end.index + end[0].length) : Buffer.alloc(0);
  return { method, url: urlOf(target, headers), headers, ...readBody(rest, headers) };
}

function readBody(rest: Buffer, headers: Capture["headers"]): Pick<Capture, "body" | "notes"> {
  if (/\bchunked\b/i.test(headers["transfer-encoding"]?.[0] ?? "")) {
    const body = unchunked(rest);
    if (body) return { body, notes: [] };
    return { body: rest, notes: ["the header says chunked, and the body isn't: it is taken as it stands"] };
  }
  const length = Number(headers["content-length"]?.[0] ?? Number.NaN);
  if (!Number.isSafeInteger(length) || rest.length === length) return { body: rest, notes: [] };
  const off = Math.abs(rest.length - length);
  if (rest.length < length) {
    return {
      body: rest,
      notes: [
        `the body is ${off} bytes shorter than its Content-Length: the capture is cut off, or a program changed the body`,
      ],
    };
  }
  return {
    body: rest.subarray(0, length),
    notes: [`${off} bytes after the end that Content-Length gives were left out`],
  };
}

/** Undefined when the chunks aren't whole. */
function unchunked(rest: Buffer): Buffer | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = rest.indexOf("\r\n", at);
    const size = line < 0 ? "" : (rest.subarray(at, line).toString("latin1").split(";")[0] ?? "").trim();
    if (!/^[0-9a-f]{1,8}$/i.test(size)) return undefined;
    const length = Number.parseInt(size, 16);
    if (length === 0) return Buffer.concat(parts);
    parts.push(rest.subarray(line + 2, line + 2 + length));
    at = line + 2 + length + 2;
  }
}

/** What `curl --trace` says that it sent. Its lines of hex are whole; those of --trace-ascii aren't. */
function traceBytes(trace: string): Buffer {
  const parts: Buffer[] = [];
  let sending = false;
  for (const line of trace.split(/\r?\n/)) {
    if (/(?:=>|<=|==) /.test(line.slice(0, 20))) sending = /=> Send (?:header|data)/.test(line);
    const hex = sending ? /^[0-9a-f]{4,}: ((?:[0-9a-f]{2} ){1,16})/i.exec(line)?.[1] : undefined;
    if (hex) parts.push(Buffer.from(hex.replace(/ /g, ""), "hex"));
  }
  if (parts.length === 0)
    throw new SyntaxError("it is a trace without the bytes; use curl --trace, not --trace-ascii");
  return Buffer.concat(parts);
}

function readJson(text: string): Capture {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    // JSON.parse quotes what it read.
    throw new SyntaxError("it begins like JSON and isn't");
  }
  const { headers: given, method, url, body, bodyBase64, ...rest } = value as Record<string, unknown>;
  if (typeof given !== "object" || given === null) throw new SyntaxError("the JSON has no headers");
  const headers = readHeaders(given);
  const event = rest as {
    version?: unknown;
    requestContext?: { http?: { method?: string }; domainName?: string };
    rawPath?: string;
    rawQueryString?: string;
    isBase64Encoded?: boolean;
  };
  if (event.requestContext?.http) {
    const query = event.rawQueryString ? `?${event.rawQueryString}` : "";
    headers.host ??= [event.requestContext.domainName ?? ""];
    return {
      method: event.requestContext.http.method ?? "POST",
      url: urlOf(`${event.rawPath ?? "/"}${query}`, headers),
      headers,
      body: Buffer.from(String(body ?? ""), event.isBase64Encoded === true ? "base64" : "utf8"),
      notes: [],
    };
  }
  if (typeof bodyBase64 !== "string" && body !== undefined && body !== null && typeof body !== "string") {
    throw new SyntaxError("body is JSON itself; it has to be the text as it came, or bodyBase64");
  }
  return {
    method: typeof method === "string" ? method : "POST",
    url: typeof url === "string" ? urlOf(url, headers) : "",
    headers,
    body:
      typeof bodyBase64 === "string"
        ? Buffer.from(bodyBase64, "base64")
        : Buffer.from((body as string | null | undefined) ?? ""),
    notes: [],
  };
}

/** An object, pairs, or `{ name, value }` as in an archive of a browser. */
function readHeaders(given: object): Record<string, string[]> {
  const headers: Record<string, string[]> = {};
  const entries: unknown[] = Array.isArray(given) ? given : Object.entries(given);
  for (const entry of entries) {
    const [name, value] = Array.isArray(entry) ? entry : [Object(entry).name, Object(entry).value];
    for (const each of Array.isArray(value) ? value : [value]) {
      if (typeof name === "string" && (typeof each === "string" || typeof each === "number"))
        add(headers, name, String(each));
    }
  }
  return headers;
}

function add(headers: Record<string, string[]>, name: string, value: string): void {
  const key = name.trim().toLowerCase();
  if (!Object.hasOwn(headers, key)) Object.defineProperty(headers, key, { value: [], enumerable: true });
  headers[key]?.push(value.trim());
}

/** The whole URL of a request that names its path alone. Behind a proxy the scheme is what the proxy says. */
function urlOf(target: string, headers: Capture["headers"]): string {
  if (/^https?:\/\//i.test(target)) return target;
  const host = headers["x-forwarded-host"]?.[0] ?? headers.host?.[0];
  if (!host || !target.startsWith("/")) return "";
  const proto = headers["x-forwarded-proto"]?.[0]?.split(",")[0]?.trim() ?? "https";
  return `${proto === "http" ? "http" : "https"}://${host}${target}`;
}
