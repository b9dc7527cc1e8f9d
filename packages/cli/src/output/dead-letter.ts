import { isUtf8 } from "node:buffer";
import type { DeadReason, PastFailure } from "webhook-anvil";
import { type Cipher, type DeadLetter, decodeBody, type Envelope, sealedKeyId } from "webhook-anvil/queue";
import { cut, oneLine, plainText } from "./plain-text.ts";
import { tableLines } from "./table.ts";
import type { Terminal } from "./terminal.ts";
import { ago } from "./time.ts";

const BODY_SHOWN = 4_000;

const REASONS: Readonly<Record<DeadReason, string>> = {
  exhausted: "every retry of its schedule was used",
  unrecoverable: "no retry could have helped",
  stalled: "its worker died or hung while it ran, too many times",
  unreadable: "what is stored can't be read by this version",
};

/** What opens encrypted bodies here. */
export type Keys = {
  readonly cipher: Cipher | undefined;
  /** What is wrong with the setting `encryption`, so that there is no cipher. Never a key. */
  readonly problems: readonly string[];
};

/** A dead letter for programs: flat, and with the data as it is where it is no envelope. */
export function deadLetterJson(letter: DeadLetter, keys: Keys): Record<string, unknown> {
  const { jobId, name, failureContext, stacktrace, failures } = letter;
  const envelope = envelopeOf(letter);
  const body = envelope && openBody(envelope, keys);
  return {
    jobId,
    name,
    failureContext,
    ...(envelope ?? { data: letter.data }),
    ...(body?.text === undefined ? {} : { body: body.text, encoding: body.encoding }),
    ...(body?.encrypted ? { encrypted: true, keyId: body.keyId } : {}),
    stacktrace,
    failures,
  };
}

/** A dead letter for people: why, what, and what to do next. */
export function deadLetterLines(
  letter: DeadLetter,
  keys: Keys,
  { style, width }: Terminal,
  nowMs: number,
  { asOptions }: { readonly asOptions: string },
): string[] {
  const { jobId, name, failureContext: failure, stacktrace, failures } = letter;
  const envelope = envelopeOf(letter);
  const fields: [string, string][] = [
    ["reason", `${failure.reason}: ${REASONS[failure.reason] ?? "unknown to this version"}`],
    ["last error", oneLine(failure.lastError) || "(no message)"],
    ["runs", String(failure.attempts)],
    ["failed", when(failure.failedAt, nowMs)],
    ...(envelope ? envelopeFields(envelope, nowMs) : []),
  ];
  const lines = [
    `${style.bold(jobId)}  ${oneLine(name)}`,
    "",
    ...tableLines(
      [{}, {}],
      fields.map(([label, value]) => [`  ${label}`, value]),
    ),
    "",
    ...bodyLines(letter, keys, style),
    ...section("Stack of the last error", stacktrace.at(-1)),
  ];
  if (failures.length > 0) {
    lines.push(
      `Earlier failures, each followed by a replay`,
      ...failures.flatMap((past) => pastFailure(past, width)).map((line) => `  ${line}`),
      "",
    );
  }
  lines.push(`Once the cause is gone: npx anvil replay ${jobId}${asOptions}`);
  return lines;
}

function envelopeFields(envelope: Omit<Envelope, "v">, nowMs: number): [string, string][] {
  return [
    ["received", when(envelope.receivedAt, nowMs)],
    ["event id", oneLine(envelope.eventId ?? "(none; signature and body identify it)")],
    ["key", envelope.key],
    ...Object.entries(envelope.headers).map(([name, value], index): [string, string] => [
      index === 0 ? "headers" : "",
      oneLine(`${name}: ${value}`),
    ]),
  ];
}

function bodyLines(letter: DeadLetter, keys: Keys, style: Terminal["style"]): string[] {
  const envelope = envelopeOf(letter);
  if (!envelope) return section("Stored data, which is no envelope", JSON.stringify(letter.data));
  const body = openBody(envelope, keys);
  const sealed = body.encrypted ? `, encrypted with key ${body.keyId}` : "";
  if (body.text === undefined) return section(`Body${sealed}`, body.advice);
  const title = `Body, ${body.bytes} bytes${body.encoding === "base64" ? ", no UTF-8: as base64" : ""}${sealed}`;
  return body.bytes === 0 ? [`Body: ${style.dim("empty")}`, ""] : section(title, body.text);
}

type Body = { readonly encrypted: boolean; readonly keyId: string } & (
  | { readonly text: string; readonly encoding: "utf8" | "base64"; readonly bytes: number }
  | { readonly text: undefined; readonly advice: string }
);

/** The body for eyes, or what would show it. */
function openBody(envelope: Envelope, { cipher, problems }: Keys): Body {
  const encrypted = envelope.encoding === "aes-256-gcm";
  const keyId = (encrypted ? sealedKeyId(envelope.body) : undefined) ?? "unknown";
  if (encrypted && !cipher?.keyIds.includes(keyId)) {
    const setting =
      "Set that key as encryption.key, or in encryption.previousKeys, of the configuration to see it here";
    return { encrypted, keyId, text: undefined, advice: [setting, ...problems].join("\n") };
  }
  try {
    const bytes = Buffer.from(decodeBody(envelope, cipher));
    const encoding = envelope.encoding === "base64" || !isUtf8(bytes) ? "base64" : "utf8";
    return { encrypted, keyId, text: bytes.toString(encoding), encoding, bytes: bytes.byteLength };
  } catch (error) {
    return { encrypted, keyId, text: undefined, advice: (error as Error).message };
  }
}

function section(title: string, text: string | undefined): string[] {
  if (!text) return [];
  const lines = plainText(cut(text, BODY_SHOWN)).split("\n");
  return [title, ...lines.map((line) => `  ${line}`.trimEnd()), ""];
}

function pastFailure(
  { failedAt, reason, attempts, lastError, replayed }: PastFailure,
  width: number,
): string[] {
  const start = `${new Date(failedAt).toISOString()}  ${reason} after ${attempts} runs: `;
  const failure = start + cut(oneLine(lastError), Math.max(20, width - start.length));
  if (!replayed) return [failure];
  const why = replayed.reason === undefined ? "" : `: ${oneLine(replayed.reason)}`;
  return [failure, `${new Date(replayed.at).toISOString()}  replayed by ${oneLine(replayed.by)}${why}`];
}

function when(ms: number, nowMs: number): string {
  return `${new Date(ms).toISOString()} (${ago(ms, nowMs)})`;
}

/** The envelope as it was stored, without what burying added; undefined where there is none. */
function envelopeOf({ data }: DeadLetter): Envelope | undefined {
  if (typeof data !== "object" || data === null || (data as { v?: unknown }).v !== 1) return undefined;
  const { failureContext: _, ...envelope } = data as Envelope & { failureContext?: unknown };
  const readable =
    typeof envelope.body === "string" &&
    ["utf8", "base64", "aes-256-gcm"].includes(envelope.encoding) &&
    typeof envelope.source === "string" &&
    typeof envelope.key === "string" &&
    typeof envelope.receivedAt === "number" &&
    typeof envelope.headers === "object" &&
    envelope.headers !== null;
  return readable ? envelope : undefined;
}
