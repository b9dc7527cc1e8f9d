import { type Cipher, createCipher, KEY_BYTES, keyIdOf } from "./cipher.ts";
import type { EncryptionConfig, Secret } from "./config.ts";
import { type Environment, isVariableName } from "./environment.ts";

const KNOWN = ["key", "previousKeys"];
const HOW = `base64 of ${KEY_BYTES} random bytes; make one with: openssl rand -base64 ${KEY_BYTES}`;
const VARIABLE = 'the name of a variable, as in env("ANVIL_ENCRYPTION_KEY"), not the key itself';

/**
 * Reads the keys of the setting `encryption`.
 * @param setting as it stands in the configuration, unchecked
 * @param env where `env("NAME")` is looked up
 * @param problems is given everything that is wrong, by setting or variable, never a key
 * @returns undefined: there is no such setting, or it can't be used, and then `problems` says why
 */
export function resolveEncryption(
  setting: unknown,
  env: Environment,
  problems: string[],
): Cipher | undefined {
  if (setting === undefined) return undefined;
  if (typeof setting !== "object" || setting === null || Array.isArray(setting)) {
    problems.push("encryption: an object of settings");
    return undefined;
  }
  const { key, previousKeys } = setting as Partial<Record<keyof EncryptionConfig, unknown>>;
  const before = problems.length;
  for (const name of Object.keys(setting)) {
    // Not the name itself: it may be a key that was pasted one level too high.
    if (!KNOWN.includes(name))
      problems.push(`encryption: holds an unknown setting; known are ${KNOWN.join(", ")}`);
  }
  if (previousKeys !== undefined && !Array.isArray(previousKeys)) {
    problems.push('encryption.previousKeys: a list, as in [env("ANVIL_ENCRYPTION_KEY_PREVIOUS")]');
  }
  const named = Object.hasOwn(setting, "key");
  const previous = Array.isArray(previousKeys) ? previousKeys : [];
  if (!named && previous.length === 0) {
    problems.push("encryption: give a key, or the previousKeys that older events were encrypted with");
  }
  const current = named ? readKey(key, "encryption.key", env, problems, false) : undefined;
  const older = previous.map((one, index) =>
    readKey(one, `encryption.previousKeys[${index}]`, env, problems, true),
  );
  if (problems.length > before) return undefined;
  const keys = older.filter((one) => one !== undefined);
  if (twins([...(current ? [current] : []), ...keys])) {
    problems.push("encryption: two different keys have the same id, by a rare chance; make another one");
    return undefined;
  }
  return createCipher(current, keys);
}

/** @param optional an unset variable is no problem: the key before the current one, where there is none */
function readKey(
  secret: unknown,
  setting: string,
  env: Environment,
  problems: string[],
  optional: boolean,
): Uint8Array | undefined {
  if (!isSecret(secret)) {
    const problem = secret === undefined ? "is missing" : 'a key is a text or env("NAME")';
    problems.push(`${setting}: ${problem}`);
    return undefined;
  }
  // A key without +, / and = may have the form of a name.
  if (typeof secret !== "string" && (!isVariableName(secret.env) || decoded(secret.env))) {
    problems.push(`${setting}.env: ${VARIABLE}`);
    return undefined;
  }
  const value =
    typeof secret === "string" ? secret : Object.hasOwn(env, secret.env) ? env[secret.env] : undefined;
  if (optional && (value === undefined || value === "")) return undefined;
  const called = typeof secret === "string" ? setting : secret.env;
  const problem = value === undefined ? "is not set" : keyProblem(value);
  if (problem) problems.push(`${called} ${problem} (a key to encrypt events with)`);
  return problem ? undefined : decoded(value as string);
}

function keyProblem(text: string): string | undefined {
  if (text.trim() === "") return "is empty";
  if (text !== text.trim()) return "has white space around it (a trailing newline from a file or a paste?)";
  const key = decoded(text);
  if (!key) return `is not ${HOW}`;
  if (new Set(key).size < 8) return `is no random key, as it repeats the same few bytes; take ${HOW}`;
  return undefined;
}

/** The bytes of a key in base64 or base64url, with padding or without; nothing else. */
function decoded(text: string): Uint8Array | undefined {
  if (!/^(?:[\w-]{43}|[A-Za-z0-9+/]{43})=?$/.test(text)) return undefined;
  const bytes = Buffer.from(text, "base64");
  const again = bytes.toString("base64url");
  const same = text.replace(/=$/, "").replaceAll("+", "-").replaceAll("/", "_") === again;
  return same && bytes.length === KEY_BYTES ? bytes : undefined;
}

function isSecret(value: unknown): value is Secret {
  if (typeof value === "string") return true;
  const keys = typeof value === "object" && value !== null ? Object.keys(value) : [];
  return keys.length === 1 && typeof (value as { env?: unknown }).env === "string";
}

function twins(keys: readonly Uint8Array[]): boolean {
  const known = new Map<string, Uint8Array>();
  return keys.some((key) => {
    const twin = known.get(keyIdOf(key));
    known.set(keyIdOf(key), key);
    return twin !== undefined && !Buffer.from(twin).equals(key);
  });
}
