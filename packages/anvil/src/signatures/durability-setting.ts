import * as v from "valibot";
import type { Durability } from "../contract/config.ts";
import type { Environment } from "../contract/environment.ts";

const NAMES = ["memory", "replica", "disk"] as const;
const CHOICES = '"memory", "replica" or "disk"';

export const durabilitySchema: v.GenericSchema<Durability> = v.picklist(NAMES, CHOICES);

/** ANVIL_DURABILITY, else the configuration's, else `memory`. A wrong one of the configuration is told by its schema. */
export function resolveDurability(configured: unknown, env: Environment, problems: string[]): Durability {
  const known = (value: unknown) => NAMES.find((name) => name === value);
  const text = env.ANVIL_DURABILITY?.trim();
  if (!text) return known(configured) ?? "memory";
  const named = known(text);
  if (!named) problems.push(`ANVIL_DURABILITY: ${CHOICES}`);
  return named ?? "memory";
}

/** A 202 that waits for more than memory looks for the deduplication key once more, and it must still be there. */
const MIN_DEDUPE_MS = 60_000;

/** What is wrong with a source whose settings are right each by itself, or nothing. */
export function dedupeProblem(dedupeMs: number | undefined, durability: Durability): string | undefined {
  if (durability === "memory" || dedupeMs === undefined || dedupeMs >= MIN_DEDUPE_MS) return undefined;
  return `dedupeMs: at least ${MIN_DEDUPE_MS} with durability "${durability}"`;
}
