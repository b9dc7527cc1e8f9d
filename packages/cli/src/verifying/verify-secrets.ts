import {
  type Provider,
  providers,
  type ResolvedSource,
  resolveConfig,
  unknownProvider,
} from "webhook-anvil/signatures";
import type { Context } from "../context.ts";
import { UsageError } from "../failure.ts";
import { loadConfig } from "../settings/config-file.ts";

/** What a delivery is to be held against. Holds secrets. */
export type Against = {
  readonly provider: Provider;
  readonly secrets: readonly string[];
  /** Absent where a variable gives the secret. */
  readonly source?: ResolvedSource;
};

/** The provider and its secrets: of a variable that is named, else of a source of the configuration. */
export async function verifyAgainst(
  name: string,
  { source, secretEnv }: { readonly source?: string; readonly secretEnv?: string },
  context: Context,
): Promise<Against> {
  if (secretEnv !== undefined) return fromVariable(name, secretEnv, context);
  const { config, file } = await loadConfig(context);
  const sources = Object.entries((config.sources ?? {}) as Record<string, { provider?: unknown }>);
  const ofProvider = sources.filter(
    ([, { provider }]) => provider === name || (provider as Provider | undefined)?.name === name,
  );
  const known = providers.has(name) || ofProvider.length > 0;
  if (!known) throw new UsageError(`there is no provider "${name}": ${unknownProvider(name)}`);
  const chosen = source === undefined ? ofProvider : ofProvider.filter(([each]) => each === source);
  const [only] = chosen;
  if (chosen.length > 1) {
    throw new UsageError(
      `${chosen.map(([each]) => each).join(", ")} are sources of ${name}; name one with --source`,
    );
  }
  if (!only) {
    const where = file ?? "without anvil.config.ts";
    throw new UsageError(
      source === undefined
        ? `${where} has no source of ${name}; name the variable that holds its secret with --secret-env`
        : `${where} has no source "${source}" of ${name}; it has ${sources.map(([each]) => each).join(", ")}`,
    );
  }
  // Of this source alone: the secrets of the others need not be here.
  const { sources: resolved } = resolveConfig({ ...config, sources: { [only[0]]: only[1] } }, context.env);
  const found = resolved.get(only[0]) as ResolvedSource;
  return { provider: found.provider, secrets: found.secrets, source: found };
}

function fromVariable(name: string, variable: string, { env }: Context): Against {
  const provider = providers.get(name);
  if (!provider) throw new UsageError(`there is no provider "${name}": ${unknownProvider(name)}`);
  const secret = Object.hasOwn(env, variable) ? env[variable] : undefined;
  if (!secret)
    throw new UsageError(`--secret-env names a variable that isn't set; give its name, not the secret`);
  return { provider, secrets: [secret] };
}
