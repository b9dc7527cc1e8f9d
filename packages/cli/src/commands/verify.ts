import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { httpsKeys } from "webhook-anvil/ingress";
import { KeyUnavailable } from "webhook-anvil/signatures";
import type { Context } from "../context.ts";
import { Failure, UsageError } from "../failure.ts";
import { diagnosisLines } from "../output/diagnosis.ts";
import { oneLine } from "../output/plain-text.ts";
import { type Capture, readCapture } from "../verifying/capture.ts";
import { dedupeKeyWords } from "../verifying/dedupe-key.ts";
import { type Diagnosis, diagnose } from "../verifying/diagnose.ts";
import { judgeVectors, readVectors } from "../verifying/vectors-file.ts";
import { type Against, verifyAgainst } from "../verifying/verify-secrets.ts";

export type VerifyOptions = {
  readonly request?: string;
  readonly source?: string;
  readonly secretEnv?: string;
  readonly url?: string;
  readonly now?: string;
  readonly vectors?: string;
  readonly json?: boolean;
};

/** Explains why a captured delivery is accepted or refused; or holds a file of vectors against their verdicts. */
export async function verify(
  context: Context,
  providerName: string | undefined,
  options: VerifyOptions,
): Promise<number> {
  if (options.vectors !== undefined) return vectors(options.vectors, options, context);
  if (providerName === undefined || options.request === undefined) {
    throw new UsageError(
      "verify needs a provider and --request FILE, as in: anvil verify stripe --request delivery.http; or --vectors FILE",
    );
  }
  const nowMs = options.now === undefined ? Date.now() : seconds(options.now) * 1_000;
  const capture = await readRequestFile(options.request, context);
  const against = await verifyAgainst(providerName, options, context);
  const url = options.url ?? publicUrl(against, capture);
  const diagnosis = await withoutVerdict(() =>
    diagnose(against.provider, capture, { secrets: against.secrets, url, nowMs, fetchKey: httpsKeys() }),
  );
  const guessed = options.url === undefined && !against.source?.publicUrl && url !== "";
  const notes = [
    ...capture.notes,
    ...(guessed && diagnosis.checks.some(({ name }) => name === "url")
      ? ["the URL that is signed was put together from the request; give the public one with --url"]
      : []),
  ];
  print(diagnosis, { against, capture: { ...capture, notes }, nowMs, options }, context);
  return diagnosis.ok ? 0 : 1;
}

/** As the ingress has it: the configured one, with the query of the request. */
function publicUrl({ source }: Against, { url }: Capture): string {
  const configured = source?.publicUrl ?? "";
  if (configured === "") return url;
  return configured.includes("?") ? configured : configured + (/\?[^#]*/.exec(url)?.[0] ?? "");
}

function seconds(text: string): number {
  if (!/^\d{1,11}$/.test(text)) {
    throw new UsageError(
      `--now is "${oneLine(text)}"; write seconds since 1970, as in ${Math.floor(Date.now() / 1_000)}`,
    );
  }
  return Number(text);
}

async function readRequestFile(file: string, context: Context): Promise<Capture> {
  const bytes = await read(file, "--request", context);
  try {
    return readCapture(bytes);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(`--request ${file} is no captured request: ${error.message}`);
  }
}

async function read(file: string, option: string, { cwd }: Context): Promise<Buffer> {
  try {
    return file === "-" ? await buffer(process.stdin) : await readFile(resolve(cwd, file));
  } catch (error) {
    throw new UsageError(`${option} ${file} can't be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

async function withoutVerdict(run: () => Promise<Diagnosis>): Promise<Diagnosis> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof KeyUnavailable)) throw error;
    throw new Failure(
      `no verdict: ${oneLine(error.message)}; the ingress answers 503 to this. Can this machine reach the provider?`,
    );
  }
}

function print(
  diagnosis: Diagnosis,
  of: { against: Against; capture: Capture; nowMs: number; options: VerifyOptions },
  { stdout }: Context,
): void {
  const { against, capture, nowMs, options } = of;
  const { provider, secrets, source } = against;
  const dedupeKey = dedupeKeyWords(source ?? { provider }, diagnosis.eventId);
  const at = new Date(nowMs).toISOString();
  if (options.json) {
    const { explained, search, ...rest } = diagnosis;
    stdout.json({
      provider: provider.name,
      ...(source ? { source: source.name } : {}),
      at,
      bodyBytes: capture.body.length,
      ...rest,
      ...explained,
      ...(search ? { passesWith: search.hints, tried: search.tried } : {}),
      ...(diagnosis.ok ? { dedupeKey } : {}),
      notes: capture.notes,
    });
    return;
  }
  const held = source ? `source ${source.name}` : `secret of ${options.secretEnv}`;
  const many = secrets.length > 1 ? `, ${secrets.length} secrets` : "";
  const title = `${provider.name} (${held}${many}), body of ${capture.body.length} bytes, as of ${at}`;
  for (const line of diagnosisLines(diagnosis, { title, dedupeKey, notes: capture.notes }, stdout))
    stdout.line(line);
}

async function vectors(file: string, { json }: VerifyOptions, context: Context): Promise<number> {
  const { stdout } = context;
  const bytes = await read(file, "--vectors", context);
  let entries: readonly unknown[];
  try {
    entries = readVectors(bytes);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(`--vectors ${file}: ${error.message}`);
  }
  const result = await judgeVectors(entries);
  if (json) stdout.line(JSON.stringify(result));
  else {
    const failed =
      result.failed === 0 ? stdout.style.green("0 failed") : stdout.style.red(`${result.failed} failed`);
    stdout.line(`${result.passed} passed, ${failed}, ${result.skipped} skipped`);
    for (const id of result.failures) stdout.line(`  ✗ ${oneLine(id)}`);
  }
  return result.failed === 0 ? 0 : 1;
}
