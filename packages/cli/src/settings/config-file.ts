import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { env as fromEnvironment } from "webhook-anvil/config";
import type { Context, Environment } from "../context.ts";
import { Failure } from "../failure.ts";
import { importDefault } from "./user-module.ts";

const FILE_NAMES = ["anvil.config.ts", "anvil.config.js", "anvil.config.mjs"];

/**
 * What applies where there is no configuration file: one source, so that WEBHOOK_SECRET is all it takes; and
 * encryption where one of its two variables is there at all, since an empty key must stop the start.
 */
const withoutFile = ({
  ANVIL_ENCRYPTION_KEY: key,
  ANVIL_ENCRYPTION_KEY_PREVIOUS: previous,
}: Environment) => ({
  sources: {
    default: {
      provider: "hmac",
      secret: fromEnvironment("WEBHOOK_SECRET"),
      previousSecret: fromEnvironment("WEBHOOK_SECRET_PREVIOUS"),
    },
  },
  ...(key === undefined && !previous
    ? {}
    : {
        encryption: {
          ...(key === undefined ? {} : { key: fromEnvironment("ANVIL_ENCRYPTION_KEY") }),
          previousKeys: [fromEnvironment("ANVIL_ENCRYPTION_KEY_PREVIOUS")],
        },
      }),
});

export type LoadedConfig = {
  /** Not checked yet, save that it is an object: `resolveConfig` does that. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The file that it comes from, as a person would name it; undefined for the default source alone. */
  readonly file: string | undefined;
};

/** The file that ANVIL_CONFIG names, else anvil.config.ts (.js, .mjs) of the current folder, else the default. */
export async function loadConfig(context: Context): Promise<LoadedConfig> {
  const file = findFile(context);
  if (file === undefined) return { config: withoutFile(context.env), file };
  const config = await importDefault(file, "export default defineConfig({ sources: { … } })", context);
  if (typeof config !== "object" || config === null) {
    throw new Failure(`${file} exports no configuration; it begins with export default defineConfig({ … })`);
  }
  return { config: config as LoadedConfig["config"], file };
}

function findFile({ env, cwd }: Context): string | undefined {
  if (!env.ANVIL_CONFIG) return FILE_NAMES.find((name) => existsSync(resolve(cwd, name)));
  if (existsSync(resolve(cwd, env.ANVIL_CONFIG))) return env.ANVIL_CONFIG;
  throw new Failure(`ANVIL_CONFIG names ${env.ANVIL_CONFIG}, which doesn't exist; name another, or unset it`);
}
