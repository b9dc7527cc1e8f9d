import type { Balance } from "anvil-testkit";
import type { Casualties } from "./inflict.ts";

export interface RunSettings {
  readonly events: number;
  readonly kills: number;
  readonly seed: number;
  /** New events in a second, at most. */
  readonly rate: number;
}

export interface ChaosReport extends Omit<RunSettings, "kills"> {
  /** Of the schedule of faults: the same for the same settings. */
  readonly schedule: string;
  readonly node: string;
  readonly redis: string;
  readonly cpus: number;
  readonly durationS: number;
  readonly accepted: number;
  readonly duplicates: number;
  readonly done: number;
  readonly waiting: number;
  readonly dead: number;
  /** Events that no try brought in, and that therefore nobody was promised anything about. */
  readonly givenUp: number;
  /** All of those that were asked for: what was killed, and at which step of the protocol. */
  readonly kills: Casualties["kills"];
  readonly troubles: Casualties["troubles"];
  readonly lost: number;
  readonly doubled: number;
  readonly altered: number;
  readonly forged: number;
  /** Stored steps that ran again. */
  readonly repeatedSteps: number;
  /** Processes that ended by themselves. */
  readonly crashes: number;
  readonly slowestMs: number;
  readonly slowest: string;
  /** What is behind the counts that should be 0; the first twenty of each. */
  readonly findings: readonly string[];
}

/** The slowest answer that a sender may get, in milliseconds: what the least patient provider waits. */
const SLOWEST_ALLOWED_MS = 3_000;

export function makeReport(outcome: {
  readonly settings: RunSettings;
  readonly machine: Pick<ChaosReport, "node" | "redis" | "cpus" | "schedule" | "durationS">;
  readonly balance: Balance;
  readonly casualties: Casualties;
  readonly givenUp: number;
  readonly repeatedSteps: readonly string[];
  readonly crashes: readonly string[];
}): ChaosReport {
  const { settings, machine, balance, casualties, givenUp, repeatedSteps, crashes } = outcome;
  const { lost, doubled, altered, forged, ...counts } = balance;
  const lists = { lost, doubled, altered, forged, repeatedSteps, crashes };
  return {
    ...settings,
    ...machine,
    ...counts,
    givenUp,
    kills: casualties.kills,
    troubles: casualties.troubles,
    lost: lost.length,
    doubled: doubled.length,
    altered: altered.length,
    forged: forged.length,
    repeatedSteps: repeatedSteps.length,
    crashes: crashes.length,
    findings: Object.entries(lists).flatMap(([name, found]) =>
      found.slice(0, 20).map((finding) => `${name}: ${finding}`),
    ),
  };
}

/** What is wrong with a run, in words; nothing when every promise held. */
export function broken(report: ChaosReport): string[] {
  const wrong: string[] = [];
  for (const name of ["lost", "doubled", "altered", "forged", "repeatedSteps", "crashes"] as const) {
    if (report[name] > 0) wrong.push(`${name}: ${report[name]}`);
  }
  if (report.waiting > 0) wrong.push(`${report.waiting} events never came to an end`);
  if (report.accepted + report.givenUp < report.events) wrong.push("some events were not accounted for");
  if (report.slowestMs > SLOWEST_ALLOWED_MS) {
    wrong.push(`the slowest answer took ${report.slowestMs} ms, more than ${SLOWEST_ALLOWED_MS} ms`);
  }
  return wrong;
}

export function asText(report: ChaosReport): string {
  const wrong = broken(report);
  const { kills, troubles } = report;
  return [
    `Chaos: ${report.events} events, ${kills.total} kills, seed ${report.seed}, ` +
      `${report.durationS} s on ${report.cpus} cores, Node ${report.node}, ${report.redis}`,
    "",
    row(
      "accepted",
      `${report.accepted} events, and ${report.duplicates} deliveries that named an earlier one`,
    ),
    row("ended as", `${report.done} done, ${report.dead} dead letters, ${report.waiting} waiting`),
    row("killed", listed(kills.byKind)),
    row("at", listed(kills.byBoundary)),
    row("besides", listed(troubles)),
    row("slowest answer", `${report.slowestMs} ms (${report.slowest})`),
    "",
    row("lost", String(report.lost)),
    row("doubled", String(report.doubled)),
    row("bytes altered", String(report.altered)),
    row("forged", String(report.forged)),
    row("steps repeated", String(report.repeatedSteps)),
    row("crashes", String(report.crashes)),
    ...(report.givenUp > 0 ? [row("never accepted", String(report.givenUp))] : []),
    "",
    wrong.length === 0
      ? `Every promise held. The same faults again: npm run chaos -- --events ${report.events} --kills ${kills.total} --seed ${report.seed}`
      : `BROKEN: ${wrong.join("; ")}`,
    ...report.findings.map((finding) => `  ${finding}`),
  ].join("\n");
}

const row = (name: string, value: string): string => `  ${name.padEnd(15)} ${value}`;

function listed(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts).sort(([a], [b]) => a.localeCompare(b));
  return entries.map(([name, count]) => `${name} ${count}`).join(", ") || "nothing";
}
