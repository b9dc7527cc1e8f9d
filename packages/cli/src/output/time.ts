const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

/** A span of time in its largest unit, rounded down: "3m", "2d". */
export function roughly(ms: number): string {
  for (const [unit, size] of UNITS) {
    if (ms >= size) return `${Math.floor(ms / size)}${unit}`;
  }
  return "0s";
}

/** "3m ago"; a moment in the future, by another machine's clock, counts as now. */
export function ago(thenMs: number, nowMs: number): string {
  const ms = nowMs - thenMs;
  return ms < 1_000 ? "just now" : `${roughly(ms)} ago`;
}
