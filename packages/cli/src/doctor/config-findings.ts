import type { SourceConfig } from "webhook-anvil";
import { type ResolvedSource, resolveConfig } from "webhook-anvil/signatures";
import type { Environment } from "../context.ts";
import { oneLine } from "../output/plain-text.ts";
import type { LoadedConfig } from "../settings/config-file.ts";
import { encryptionKeys } from "../settings/encryption.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Short enough to be guessed, by somebody with one signed delivery and a computer. */
const SHORT_SECRET = 16;

const NO_FILE = "no anvil.config.ts in this folder, so there is the default source alone";

/** Whether the configuration loads and every secret in it is there; source by source, so that one hides no other. */
export async function configFindings(
  load: () => Promise<LoadedConfig>,
  env: Environment,
): Promise<Finding[]> {
  let loaded: LoadedConfig;
  try {
    loaded = await load();
  } catch (error) {
    return [
      fail(
        "config",
        oneLine((error as Error).message),
        "Correct the file, or name another with ANVIL_CONFIG",
      ),
    ];
  }
  const { config, file } = loaded;
  const name = file ?? "without a configuration file";
  const sources = Object.entries((config.sources ?? {}) as Record<string, SourceConfig>);
  const whole = problemsOf({ ...config, sources: config.sources ?? {} }, env);
  const bySource = sources.map(([source, settings]) => {
    const problems = problemsOf({ sources: { [source]: settings } }, env);
    return { source, settings, problems };
  });
  const told = new Set(bySource.flatMap(({ problems }) => problems));
  const ofFile = whole.filter((problem) => !told.has(problem));
  return [
    ...(ofFile.length === 0
      ? [
          file === undefined
            ? warn("config", NO_FILE, "Run it where anvil.config.ts is, or name the file with ANVIL_CONFIG")
            : ok("config", `${name}: ${sources.map(([source]) => source).join(", ")}`),
        ]
      : ofFile.map((problem) =>
          fail("config", `${name}: ${problem}`, "Correct it; the ingress refuses to start"),
        )),
    ...bySource.flatMap(({ source, settings, problems }) =>
      problems.length > 0
        ? problems.map((problem) =>
            fail(`source ${source}`, problem, "Correct it; the ingress refuses to start"),
          )
        : secretFindings(source, settings, env),
    ),
    ...encryptionFindings(config, env),
  ];
}

/** What is wrong with the setting is told with the rest of the configuration. */
function encryptionFindings(config: LoadedConfig["config"], env: Environment): Finding[] {
  const { cipher, problems } = encryptionKeys(config, env);
  if (problems.length > 0) return [];
  if (!cipher) return [ok("encryption", "off: bodies lie in Redis as they came")];
  const older = cipher.keyIds.filter((keyId) => keyId !== cipher.keyId);
  const readable = older.length === 0 ? "" : `; older ones can be read with ${older.join(", ")}`;
  return [
    ok(
      "encryption",
      cipher.keyId === undefined
        ? `off for new events${readable}`
        : `bodies of new events are encrypted with key ${cipher.keyId}${readable}`,
    ),
  ];
}

function problemsOf(config: unknown, env: Environment): readonly string[] {
  try {
    resolveConfig(config, env);
    return [];
  } catch (error) {
    const { problems } = error as { problems?: readonly string[] };
    if (!problems) throw error;
    return problems;
  }
}

function secretFindings(source: string, settings: SourceConfig, env: Environment): Finding[] {
  const check = `source ${source}`;
  const { secrets } = resolveConfig({ sources: { [source]: settings } }, env).sources.get(
    source,
  ) as ResolvedSource;
  const names = secretNames(source, settings);
  const short = secrets.flatMap((secret, index) =>
    secret.replace(/^whsec_/, "").length < SHORT_SECRET ? [names[index] as string] : [],
  );
  if (short.length === 0) {
    return [
      ok(
        check,
        secrets.length === 1 ? "its secret is set" : `its ${secrets.length} secrets are set, each is valid`,
      ),
    ];
  }
  return short.map((name) =>
    warn(
      check,
      `${name} is shorter than ${SHORT_SECRET} characters, so it can be guessed from one delivery`,
      "Take a longer one where you may choose: openssl rand -hex 32",
    ),
  );
}

/** How the secrets are called, in the order in which `resolveConfig` gives them. */
function secretNames(source: string, { secret, previousSecret }: SourceConfig): string[] {
  const listed = Array.isArray(secret) ? secret : [secret];
  const nameOf = (value: unknown, setting: string) =>
    typeof value === "string" ? setting : (value as { env: string }).env;
  return [
    ...listed.map((value) => nameOf(value, `sources.${source}.secret`)),
    nameOf(previousSecret ?? "", `sources.${source}.previousSecret`),
  ];
}
