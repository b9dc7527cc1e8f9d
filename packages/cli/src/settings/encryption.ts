import { type Cipher, resolveEncryption } from "webhook-anvil/queue";
import type { Environment } from "../context.ts";
import type { LoadedConfig } from "./config-file.ts";

/**
 * The keys for what is stored encrypted, without asking for the rest of the configuration: whoever looks at dead
 * letters may have none of the sources' secrets.
 */
export function encryptionKeys(
  config: LoadedConfig["config"],
  env: Environment,
): { readonly cipher: Cipher | undefined; readonly problems: readonly string[] } {
  const problems: string[] = [];
  return { cipher: resolveEncryption(config.encryption, env, problems), problems };
}
