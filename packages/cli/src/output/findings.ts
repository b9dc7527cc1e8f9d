import type { Finding } from "../doctor/finding.ts";
import type { Terminal } from "./terminal.ts";

/** A line for each finding, what to do below it, and the sum. */
export function findingLines(findings: readonly Finding[], { style }: Terminal): string[] {
  const marks = { ok: style.green("ok  "), warn: style.yellow("warn"), fail: style.red("FAIL") };
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ level, check, message, action }) => [
    `${marks[level]}  ${check.padEnd(width)}  ${message}`,
    ...(action === undefined ? [] : [`${" ".repeat(width + 8)}${style.dim("→")} ${action}`]),
  ]);
  const failed = findings.filter(({ level }) => level === "fail").length;
  const warned = findings.filter(({ level }) => level === "warn").length;
  return [...lines, "", `${verdict(failed, "failure")}, ${verdict(warned, "warning")}.`];
}

function verdict(count: number, what: string): string {
  return `${count === 0 ? "No" : count} ${what}${count === 1 ? "" : "s"}`;
}
