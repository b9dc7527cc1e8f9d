import type { Diagnosis } from "../verifying/diagnose.ts";
import { cut, oneLine } from "./plain-text.ts";
import type { Terminal } from "./terminal.ts";
import { wrapped } from "./wrap.ts";

const MARKS = { passed: "✓", failed: "✗", not_reached: "·" } as const;
const CELL = 400;

/** A captured delivery's verdict for a person: each check, why, what would make it pass, what to do next. */
export function diagnosisLines(
  diagnosis: Diagnosis,
  {
    title,
    dedupeKey,
    notes,
  }: { readonly title: string; readonly dedupeKey: string; readonly notes: readonly string[] },
  { style, width }: Terminal,
): string[] {
  const paint = { passed: style.green, failed: style.red, not_reached: style.dim } as const;
  const head = diagnosis.ok ? style.green("✓ accepted") : style.red(`✗ refused: ${diagnosis.reason}`);
  const column = Math.max(...diagnosis.checks.map(({ name }) => name.length)) + 6;
  const checks = diagnosis.checks.flatMap(({ name, state, expected, found }) => {
    const tail = state === "not_reached" ? `${expected} (not reached)` : expected;
    const text = [
      tail,
      ...(found === undefined || state === "not_reached" || found === expected ? [] : [`→ ${found}`]),
    ].map((each) => cut(oneLine(each), CELL));
    return text.flatMap((each, index) =>
      wrapped(each, width - column).map((line, at) => {
        const mark = index + at === 0 ? `  ${paint[state](MARKS[state])} ${name}` : "";
        const plain = index + at === 0 ? `  ${MARKS[state]} ${name}` : "";
        return `${mark}${" ".repeat(column - plain.length)}${state === "not_reached" ? style.dim(line) : line}`;
      }),
    );
  });
  const section = (name: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ["", style.bold(name), ...lines];
  const list = (items: readonly string[], mark = "-") =>
    items.flatMap((item) =>
      wrapped(oneLine(item), width - 4).map(
        (line, at) =>
          `${at === 0 ? `  ${mark === " " ? "" : `${mark} `}` : mark === " " ? "  " : "    "}${line}`,
      ),
    );
  return [
    `${head}  ${oneLine(title)}`,
    "",
    ...checks,
    ...section("The capture", list(notes)),
    ...(diagnosis.ok ? accepted(diagnosis, dedupeKey) : refused(diagnosis, section, list, style)),
  ];
}

function accepted({ eventId, type }: Diagnosis, dedupeKey: string): string[] {
  return [
    "",
    `  event id    ${cut(oneLine(eventId ?? "(none)"), CELL)}`,
    `  type        ${cut(oneLine(type ?? "(none)"), CELL)}`,
    `  dedupe key  of ${dedupeKey}`,
  ];
}

function refused(
  { explained, search, passesAt, besides, looksLike }: Diagnosis,
  section: (name: string, lines: readonly string[]) => string[],
  list: (items: readonly string[], mark?: string) => string[],
  style: Terminal["style"],
): string[] {
  if (!explained) return [];
  const hints = search?.hints ?? [];
  const sure = passesAt !== undefined || hints.length > 0;
  return [
    ...section(
      "Why",
      list(
        [
          explained.why,
          ...(besides === undefined ? [] : [`At its own time it would be refused all the same: ${besides}.`]),
        ],
        " ",
      ),
    ),
    ...section(
      "What would make it pass",
      passesAt === undefined
        ? hints.flatMap(({ change, cause }) => [
            ...list([`It verifies ${change}.`], style.green("✓")),
            ...list([cause], " "),
          ])
        : [
            ...list(
              [`The signature itself is right: it verifies with --now ${passesAt}, when it was signed.`],
              style.green("✓"),
            ),
          ],
    ),
    ...(search && hints.length === 0
      ? section(
          "What would make it pass",
          list([
            `Nothing of the ${search.tried} things that were tried (other bodies, forms of the secret, URLs, providers).`,
          ]),
        )
      : []),
    ...section(
      "It looks like",
      looksLike.length === 0
        ? []
        : list([`a delivery of ${looksLike.slice(0, 6).join(", ")}: is the source's provider right?`]),
    ),
    // What has been found out needs no list of what it might have been.
    ...(sure && passesAt === undefined ? [] : section("Likely causes", list(explained.causes))),
    ...section(
      "Next",
      sure && passesAt === undefined
        ? list(["Change what is named above, then verify it again"], "→")
        : list([explained.next], "→"),
    ),
  ];
}
