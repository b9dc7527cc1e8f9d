/** What a text says, or what is wrong with it: the end of a sentence that begins with the setting's name. */
export type Read<T> = (text: string) => { readonly value: T } | { readonly problem: string };

/** One setting: where it is read, and what it is when nobody sets it. */
export type Setting<T> = {
  readonly variable: string;
  readonly read: Read<T>;
  /** Of a personal stage, and of `production`. */
  readonly defaults: { readonly personal: T; readonly production: T };
};

/** @param both its default, of either kind of stage or one for each */
export function setting<T>(variable: string, read: Read<T>, both: T, production: T = both): Setting<T> {
  return { variable, read, defaults: { personal: both, production } };
}

export function oneOf<const T extends string>(...choices: readonly T[]): Read<T> {
  return (text) => {
    const value = choices.find((choice) => choice === text);
    return value === undefined ? { problem: `is one of ${choices.join(", ")}` } : { value };
  };
}

export function wholeNumber(from: number, to: number): Read<number> {
  return (text) => {
    const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
    return value >= from && value <= to ? { value } : { problem: `is a whole number from ${from} to ${to}` };
  };
}

export function oneOfNumbers(...choices: readonly number[]): Read<number> {
  return (text) => {
    const value = choices.find((choice) => String(choice) === text);
    return value === undefined ? { problem: `is one of ${choices.join(", ")}` } : { value };
  };
}

/** `25s`, `5m`, `1h`; the value is in seconds. */
export function duration(fromSeconds: number, toSeconds: number): Read<number> {
  const units = { s: 1, m: 60, h: 3_600 } as const;
  return (text) => {
    const [, count, unit] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
    const value = count === undefined ? Number.NaN : Number(count) * units[unit as keyof typeof units];
    return value >= fromSeconds && value <= toSeconds
      ? { value }
      : { problem: `is a duration from ${fromSeconds}s to ${toSeconds}s, as in 25s or 5m` };
  };
}

export function matching(pattern: RegExp, what: string): Read<string> {
  return (text) => (pattern.test(text) ? { value: text } : { problem: `is ${what}` });
}

/** For what can be switched off: `none` says so. */
export function orNone<T>(read: Read<T>): Read<T | undefined> {
  return (text) => {
    if (text === "none") return { value: undefined };
    const result = read(text);
    return "problem" in result ? { problem: `${result.problem}, or none` } : result;
  };
}
