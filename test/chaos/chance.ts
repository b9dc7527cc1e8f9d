import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** Dice that fall the same way for the same seed. */
export interface Dice {
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  /** True in so many of 100 throws. */
  percent(of100: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** Dice of their own, so that one more throw here changes nothing there. */
  fork(): Dice;
}

export function dice(seed: number): Dice {
  const generator = xoroshiro128plus(seed);
  const between = (least: number, most: number) => uniformInt(generator, least, most);
  return {
    between,
    percent: (of100) => between(1, 100) <= of100,
    pick: <T>(from: readonly T[]) => from[between(0, from.length - 1)] as T,
    fork: () => dice(between(-0x80000000, 0x7fffffff)),
  };
}
