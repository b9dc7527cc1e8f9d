/** A moment by which an answer is due, shared by every step on the way to it. */
export type Deadline = {
  remainingMs(): number;
  /** Rejects with `late()` when the deadline passes before `work` settles. The work itself may still go on. */
  race<T>(work: Promise<T>, late: () => Error): Promise<T>;
};

/** @param ms from now */
export function deadlineIn(ms: number): Deadline {
  const end = performance.now() + ms;
  const remainingMs = () => Math.max(0, end - performance.now());
  return {
    remainingMs,
    async race(work, late) {
      let timer: NodeJS.Timeout | undefined;
      const expired = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(late()), remainingMs());
      });
      try {
        return await Promise.race([work, expired]);
      } finally {
        clearTimeout(timer);
        // What comes after the deadline has nobody left to tell.
        work.catch(() => {});
      }
    },
  };
}
