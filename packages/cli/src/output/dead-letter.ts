import type { DeadReason, FailureContext } from "webhook-anvil";
import type { DeadLetter, Envelope } from "webhook-anvil/queue";
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

/** A dead letter for programs: flat, and with the data as it is where it is no envelope. */
export function deadLetterJson(letter: DeadLetter): Record<string, unknown> {
  const { jobId, name, failureContext, stacktrace, failures } = letter;
  const envelope = envelopeOf(letter);
  return {
    jobId,
    name,
    failureContext,
    ...(envelope ?? { data: letter.data }),
    stacktrace,
    failures,
  };
}

/** A dead letter for people: why, what, and what to do next. */
export function deadLetterLines(
  letter: DeadLetter,
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
    ...bodyLines(letter, style),
    ...section("Stack of the last error", stacktrace.at(-1)),
  ];
  if (failures.length > 0) {
    lines.push(
      `Earlier failures, each followed by a replay`,
      ...failures.map((past) => `  ${pastFailure(past, width)}`),
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

function bodyLines(letter: DeadLetter, style: Terminal["style"]): string[] {
  const envelope = envelopeOf(letter);
  if (!envelope) return section("Stored data, which is no envelope", JSON.stringify(letter.data));
  const bytes = Buffer.from(envelope.body, envelope.encoding);
  const title = `Body, ${bytes.byteLength} bytes${envelope.encoding === "base64" ? ", no UTF-8: as base64" : ""}`;
  return bytes.byteLength === 0 ? [`Body: ${style.dim("empty")}`, ""] : section(title, envelope.body);
}

function section(title: string, text: string | undefined): string[] {
  if (!text) return [];
  const lines = plainText(cut(text, BODY_SHOWN)).split("\n");
  return [title, ...lines.map((line) => `  ${line}`.trimEnd()), ""];
}

function pastFailure({ failedAt, reason, attempts, lastError }: FailureContext, width: number): string {
  const start = `${new Date(failedAt).toISOString()}  ${reason} after ${attempts} runs: `;
  return start + cut(oneLine(lastError), Math.max(20, width - start.length));
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
    (envelope.encoding === "utf8" || envelope.encoding === "base64") &&
    typeof envelope.receivedAt === "number" &&
    typeof envelope.headers === "object" &&
    envelope.headers !== null;
  return readable ? envelope : undefined;
}
