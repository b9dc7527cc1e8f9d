const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads "50ms", "1s", "5m", "2h", "7d" as milliseconds; undefined when it is none of these. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text.trim());
  if (!match) return undefined;
  return Number(match[1]) * (UNIT_MS[match[2] as string] as number);
}

/** Writes milliseconds in the largest unit that is exact: 300000 becomes "5m". */
export function formatDuration(ms: number): string {
  for (const unit of ["d", "h", "m", "s"]) {
    const size = UNIT_MS[unit] as number;
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`;
  }
  return `${ms}ms`;
}
