import { type FetchKey, KeyUnavailable, type WantedKey } from "../signatures/schemes/engine.ts";

export type HttpsKeysOptions = {
  /** For one request, in milliseconds. Default: 1500, so that the sender's patience lasts. */
  readonly timeoutMs?: number;
  /** How long a certificate or key is kept, in milliseconds. Default: 24 hours; providers change theirs rarely. */
  readonly keepMs?: number;
  /** Default: the global one. Give another to go through a proxy. */
  readonly fetch?: typeof globalThis.fetch;
  /** The clock, in milliseconds since 1970. Default: Date.now. */
  readonly now?: () => number;
};

/** A certificate has a few kB; more than this is something else. */
const MAX_BYTES = 64 * 1024;
/** Of different URLs and ids: a sender can name many, and must not fill the memory with them. */
const MAX_KEPT = 100;
/** Nor have the provider asked about all of them. */
const MAX_UNDER_WAY = 10;
/** After a failure, so that an outage of the provider isn't asked about for every delivery. */
const FAILURE_KEPT_MS = 5_000;

const PLAID_HOSTS = { production: "production.plaid.com", sandbox: "sandbox.plaid.com" } as const;

type Kept = { readonly value: Promise<string>; readonly until: number };

/**
 * Gets certificates and keys over https, and keeps them. Which hosts may be asked is the scheme's to say, before
 * this is called; redirects are refused, since they lead elsewhere.
 */
export function httpsKeys(options: HttpsKeysOptions = {}): FetchKey {
  const { timeoutMs = 1_500, keepMs = 86_400_000, now = Date.now } = options;
  const send = options.fetch ?? globalThis.fetch;
  const underWay = new Map<string, Promise<string>>();
  const good = new Map<string, Kept>();
  // Apart, so that ids that a stranger has made up never push out a key that is in use.
  const failed = new Map<string, Kept>();

  async function ask(name: string, wanted: WantedKey): Promise<string> {
    const value = get(wanted, send, timeoutMs);
    underWay.set(name, value);
    try {
      await value;
      keep(good, name, { value, until: now() + keepMs });
    } catch {
      keep(failed, name, { value, until: now() + FAILURE_KEPT_MS });
    } finally {
      underWay.delete(name);
    }
    return value;
  }

  return async (wanted) => {
    const name = nameOf(wanted);
    const known = good.get(name);
    if (known && known.until > now()) {
      // The last one asked for is the last one to go.
      keep(good, name, known);
      return known.value;
    }
    const asked = underWay.get(name);
    if (asked) return asked;
    const failure = failed.get(name);
    if (failure && failure.until > now()) return failure.value;
    if (underWay.size >= MAX_UNDER_WAY) throw new KeyUnavailable("too many keys are asked for at once");
    return ask(name, wanted);
  };
}

function nameOf(wanted: WantedKey): string {
  return wanted.kind === "certificate"
    ? new URL(wanted.url).href
    : JSON.stringify([wanted.provider, wanted.kid, wanted.credentials]);
}

function keep(map: Map<string, Kept>, name: string, entry: Kept): void {
  map.delete(name);
  map.set(name, entry);
  const [oldest] = map.keys();
  if (map.size > MAX_KEPT && oldest !== undefined) map.delete(oldest);
}

async function get(wanted: WantedKey, send: typeof fetch, timeoutMs: number): Promise<string> {
  const [url, init] = wanted.kind === "certificate" ? [wanted.url, {}] : plaidRequest(wanted);
  const host = new URL(url).hostname;
  try {
    const answer = await send(url, {
      ...init,
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    const text = await boundedText(answer);
    return wanted.kind === "certificate" ? certificateIn(text) : keyIn(text);
  } catch (error) {
    // Never the cause itself: a request to Plaid holds its secret.
    throw new KeyUnavailable(`${host} didn't give the key: ${reasonOf(error as Error)}`);
  }
}

/** https://plaid.com/docs/api/webhooks/webhook-verification/#get-webhook-verification-key */
function plaidRequest({ kid, credentials }: Extract<WantedKey, { kind: "jwk" }>): [string, RequestInit] {
  const [client_id = "", secret = "", environment = "production"] = credentials.split(":");
  const host = environment === "sandbox" ? PLAID_HOSTS.sandbox : PLAID_HOSTS.production;
  return [
    `https://${host}/webhook_verification_key/get`,
    {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ client_id, secret, key_id: kid }),
    },
  ];
}

async function boundedText(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += (chunk as Uint8Array).byteLength;
    if (size > MAX_BYTES) throw new Error(`more than ${MAX_BYTES} bytes`);
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Kept for a day, so it must be one: a page that says "try later" with a 200 must not count. */
function certificateIn(text: string): string {
  if (!text.includes("-----BEGIN CERTIFICATE-----")) throw new Error("no certificate");
  return text;
}

function keyIn(text: string): string {
  const { key } = (JSON.parse(text) ?? {}) as { key?: unknown };
  if (typeof key !== "object" || key === null) throw new Error("no key");
  return JSON.stringify(key);
}

function reasonOf(error: Error): string {
  if (error.name === "TimeoutError") return "no answer in time";
  const code = (error.cause as { code?: unknown } | undefined)?.code;
  if (typeof code === "string") return code;
  return /^(status \d+|more than \d+ bytes|no certificate|no key)$/.test(error.message)
    ? error.message
    : error.name;
}
