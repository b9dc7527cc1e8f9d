import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Context } from "../context.ts";
import { Failure } from "../failure.ts";

/**
 * Loads a file of the user's, TypeScript or JavaScript, and gives its default export.
 * @param file as the user wrote it
 * @param wanted how the file begins when it is right, for the message when it has no default export
 */
export async function importDefault(file: string, wanted: string, { cwd, env }: Context): Promise<unknown> {
  const path = resolve(cwd, file);
  if (!existsSync(path)) throw new Failure(`${file} doesn't exist in ${cwd}`);
  let loaded: { readonly default?: unknown };
  try {
    loaded = await import(pathToFileURL(path).href);
  } catch (error) {
    if (env.ANVIL_DEBUG) throw error;
    throw new Failure(`${file} can't be loaded: ${error instanceof Error ? error.message : String(error)}`);
  }
  const found = withoutInterop(loaded.default);
  if (found === undefined) throw new Failure(`${file} has no default export; it begins with ${wanted}`);
  return found;
}

/** A CommonJS file that was written as a module has its exports one level further down. */
function withoutInterop(value: unknown): unknown {
  const isNamespace = typeof value === "object" && value !== null && "__esModule" in value;
  return isNamespace ? (value as { default?: unknown }).default : value;
}
