/** Lets acts happen later, and always in the order that they came in. */
export interface DelayLine {
  /** @param delayMs from now, or later when what came before it isn't due yet */
  push(delayMs: number, act: () => void): void;
  /** Drops what has not happened yet. */
  clear(): void;
}

export function delayLine(): DelayLine {
  const waiting: { dueAt: number; act: () => void }[] = [];
  let timer: NodeJS.Timeout | undefined;
  const run = (): void => {
    timer = undefined;
    for (;;) {
      const next = waiting[0];
      if (!next) return;
      const leftMs = next.dueAt - performance.now();
      if (leftMs > 0) {
        timer = setTimeout(run, leftMs);
        return;
      }
      waiting.shift();
      next.act();
    }
  };
  return {
    push(delayMs, act) {
      if (delayMs <= 0 && waiting.length === 0) {
        act();
        return;
      }
      const last = waiting.at(-1);
      waiting.push({ dueAt: Math.max(performance.now() + delayMs, last?.dueAt ?? 0), act });
      timer ??= setTimeout(run, delayMs);
    },
    clear() {
      clearTimeout(timer);
      timer = undefined;
      waiting.length = 0;
    },
  };
}
