import type { Deadline } from "./deadline.ts";

type Waiting<T> = {
  readonly item: T;
  readonly deadline: Deadline;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

/** Runs one round for several items, by the latest of their deadlines; says for each what is wrong with it, or nothing. */
export type Round<T> = (deadline: Deadline, items: readonly T[]) => Promise<(item: T) => Error | undefined>;

/**
 * Group commit: one round at a time, and whatever comes while one is under way goes with the next. For work that
 * takes as long for many as for one, such as waiting for a disk.
 * @param late what an item is told whose own deadline passes first
 */
export function inGroups<T>(
  round: Round<T>,
  late: () => Error,
): (deadline: Deadline, item: T) => Promise<void> {
  let gathered: Waiting<T>[] = [];
  let underWay = false;

  async function runRounds(): Promise<void> {
    while (gathered.length > 0) {
      // Answers that came in one packet are one group.
      await new Promise((resolve) => setImmediate(resolve));
      const group = gathered.filter(({ deadline }) => deadline.remainingMs() > 0);
      gathered = [];
      if (group.length > 0) await runRound(group);
    }
    underWay = false;
  }

  async function runRound(group: readonly Waiting<T>[]): Promise<void> {
    const { deadline } = group.reduce((latest, other) =>
      other.deadline.remainingMs() > latest.deadline.remainingMs() ? other : latest,
    );
    try {
      const problemWith = await round(
        deadline,
        group.map(({ item }) => item),
      );
      for (const { item, resolve, reject } of group) {
        const problem = problemWith(item);
        if (problem) reject(problem);
        else resolve();
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  return (deadline, item) => {
    const outcome = new Promise<void>((resolve, reject) => {
      gathered.push({ item, deadline, resolve, reject });
    });
    if (!underWay) {
      underWay = true;
      void runRounds();
    }
    return deadline.race(outcome, late);
  };
}
