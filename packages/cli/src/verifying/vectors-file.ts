import { judgeVector, providers, type Vector } from "webhook-anvil/signatures";

export type VectorsResult = {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** The ids of those that failed, in the file's order. */
  readonly failures: readonly string[];
};

/**
 * The entries of a file of vectors: `{ "vectors": […] }`, a list alone, or an object a line.
 * @throws {SyntaxError} when it is no such file
 */
export function readVectors(bytes: Uint8Array): readonly unknown[] {
  const text = new TextDecoder().decode(bytes);
  const whole = parsed(text) ?? parsedLines(text);
  const list = Array.isArray(whole) ? whole : (whole as { vectors?: unknown } | undefined)?.vectors;
  if (!Array.isArray(list))
    throw new SyntaxError('it holds no vectors; it is JSON, as in {"vectors": [ … ]}');
  return list;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parsedLines(text: string): unknown[] | undefined {
  const entries = text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map(parsed);
  return entries.length > 1 && !entries.includes(undefined) ? entries : undefined;
}

/** Every entry gets a verdict: one that can't be read or judged has failed, and the others go on. */
export async function judgeVectors(entries: readonly unknown[]): Promise<VectorsResult> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failures: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const result = await judge(entry);
    counts[result] += 1;
    if (result === "failed") failures.push(idOf(entry, index));
  }
  return { ...counts, failures };
}

async function judge(entry: unknown): Promise<"passed" | "failed" | "skipped"> {
  try {
    const vector = entry as Vector;
    // Without a time everything is refused, which would be right by accident.
    if (!Number.isFinite(vector.now)) return "failed";
    return await judgeVector({ ...vector, provider: providerName(vector.provider) });
  } catch {
    return "failed";
  }
}

function idOf(entry: unknown, index: number): string {
  const id = (entry as { id?: unknown } | null | undefined)?.id;
  return typeof id === "string" || typeof id === "number" ? String(id) : `#${index + 1}`;
}

/** Names under which others know the same providers. */
const ALIASES: Readonly<Record<string, string>> = {
  facebook: "meta",
  instagram: "meta",
  messenger: "meta",
  whatsapp: "meta",
  twitter: "x",
  sns: "aws-sns",
  amazonsns: "aws-sns",
  graph: "microsoft-graph",
  msgraph: "microsoft-graph",
  coinbase: "coinbase-commerce",
  twilioemail: "sendgrid",
  bird: "messagebird",
  standardwebhook: "standard-webhooks",
  atlassian: "jira",
};

function providerName(name: unknown): string {
  if (typeof name !== "string") return "";
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, "");
  const known = ALIASES[plain(name)] ?? [...providers.keys()].find((each) => plain(each) === plain(name));
  return providers.has(name) ? name : (known ?? name);
}
