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
/** After a failure, so that an outage of the provider isn't asked about for every delivery. */
const FAILURE_KEPT_MS = 5_000;

const PLAID_HOSTS = { production: "production.plaid.com", sandbox: "sandbox.plaid.com" } as const;

type Kept = { readonly value: Promise<string>; until: number };

/**
 * Gets certificates and keys over https, and keeps them. Which hosts may be asked is the scheme's to say, before
 * this is called; redirects are refused, since they lead elsewhere.
 */
export function httpsKeys(options: HttpsKeysOptions = {}): FetchKey {
  const { timeoutMs = 1_500, keepMs = 86_400_000, now = Date.now } = options;
  const send = options.fetch ?? globalThis.fetch;
  const kept = new Map<string, Kept>();

  return (wanted) => {
    const name = wanted.kind === "certificate" ? wanted.url : `${wanted.provider} ${wanted.kid}`;
    const known = kept.get(name);
    if (known && known.until > now()) return known.value;
    // Many deliveries at once ask once.
    const entry: Kept = { value: get(wanted, send, timeoutMs), until: now() + keepMs };
    entry.value.catch(() => {
      entry.until = Math.min(entry.until, now() + FAILURE_KEPT_MS);
    });
    kept.delete(name);
    kept.set(name, entry);
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    return entry.value;
  };
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
    return wanted.kind === "certificate" ? text : JSON.stringify((JSON.parse(text) as { key?: unknown }).key);
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

function reasonOf(error: Error): string {
  if (error.name === "TimeoutError") return "no answer in time";
  const code = (error.cause as { code?: unknown } | undefined)?.code;
  if (typeof code === "string") return code;
  return /^(status \d+|more than \d+ bytes)$/.test(error.message) ? error.message : error.name;
}
