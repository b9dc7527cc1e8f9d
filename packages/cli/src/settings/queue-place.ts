import { DEFAULT_PREFIX, DEFAULT_QUEUE, queueNameProblem } from "webhook-anvil/queue";
import type { Context } from "../context.ts";
import { Failure, UsageError } from "../failure.ts";
import { type LoadedConfig, loadConfig } from "./config-file.ts";

/** `--queue` and `--prefix`, which every command takes that touches Redis. */
export type PlaceOptions = { readonly queue?: string; readonly prefix?: string };

export type Place = {
  readonly queue: string;
  readonly prefix: string;
  /** The options to repeat in a command that somebody is advised to run next, or nothing. */
  readonly asOptions: string;
};

/** Which queue is meant: the option, else ANVIL_QUEUE and ANVIL_PREFIX, else the configuration file, else ours. */
export async function queuePlace(options: PlaceOptions, context: Context): Promise<Place> {
  return placeIn((await loadConfig(context)).config, options, context);
}

/** The same where the configuration has been loaded already. */
export function placeIn(
  config: LoadedConfig["config"],
  options: PlaceOptions,
  { env }: Pick<Context, "env">,
): Place {
  const queue = options.queue ?? (env.ANVIL_QUEUE || (textOf(config.queue) ?? DEFAULT_QUEUE));
  const prefix = options.prefix ?? (env.ANVIL_PREFIX || (textOf(config.prefix) ?? DEFAULT_PREFIX));
  const problem = queueNameProblem(prefix, queue);
  if (problem && (options.queue ?? options.prefix) !== undefined) throw new UsageError(problem);
  if (problem) throw new Failure(`${problem}; see ANVIL_QUEUE, ANVIL_PREFIX and the configuration file`);
  return {
    queue,
    prefix,
    asOptions: [
      options.queue === undefined ? "" : ` --queue ${queue}`,
      options.prefix === undefined ? "" : ` --prefix '${prefix}'`,
    ].join(""),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
