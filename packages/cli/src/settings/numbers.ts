import { parseDuration } from "webhook-anvil/queue";
import type { Environment } from "../context.ts";
import { Failure, UsageError } from "../failure.ts";

/** Reads a whole number in decimal digits; undefined when it is none, or outside the bounds. */
function wholeNumber(text: string, least: number, most: number): number | undefined {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}

/** PORT: where to listen, or where the ingress of this machine listens. 0 takes any free one. */
export function port(env: Environment): number {
  const text = env.PORT || "3000";
  const value = wholeNumber(text, 0, 65_535);
  if (value === undefined)
    throw new Failure(`PORT is "${text}"; write a number from 0 (any free one) to 65535`);
  return value;
}

/** What a number may come from: the command line, else the environment, else the default. */
type Setting = { readonly option: string; readonly variable?: string };

/** @throws {UsageError} for a wrong option, {Failure} for a wrong variable */
export function countSetting(
  given: string | undefined,
  env: Environment,
  { option, variable, least, fallback }: Setting & { readonly least: number; readonly fallback: number },
): number {
  const { text, wrong } = pick(given, env, { option, ...(variable ? { variable } : {}) });
  if (text === undefined) return fallback;
  const value = wholeNumber(text, least, 2 ** 31 - 1);
  if (value === undefined) throw wrong(`write a whole number from ${least}`);
  return value;
}

/** As `countSetting`, for "25s"; in milliseconds. */
export function durationSetting(
  given: string | undefined,
  env: Environment,
  { option, variable, fallbackMs }: Setting & { readonly fallbackMs: number },
): number {
  const { text, wrong } = pick(given, env, { option, ...(variable ? { variable } : {}) });
  if (text === undefined) return fallbackMs;
  const value = parseDuration(text);
  if (value === undefined) throw wrong("write a time as in 500ms, 25s or 2m");
  return value;
}

function pick(
  given: string | undefined,
  env: Environment,
  { option, variable }: Setting,
): { text: string | undefined; wrong: (advice: string) => Error } {
  if (given !== undefined) {
    return { text: given, wrong: (advice) => new UsageError(`${option} is "${given}"; ${advice}`) };
  }
  const text = (variable && env[variable]) || undefined;
  return { text, wrong: (advice) => new Failure(`${variable} is "${text}"; ${advice}`) };
}
