/** For anvil.config.ts and for entries: nothing that opens, loads or costs anything. */
export {
  type AnvilConfig,
  type EncryptionConfig,
  env,
  type Secret,
  type SourceConfig,
} from "./contract/config.ts";
export { type Environment, redisUrlFrom, upstashFrom } from "./contract/environment.ts";
export { consoleLog, silentLog } from "./contract/log.ts";
export { defineConfig } from "./signatures/define-config.ts";
export type { Provider } from "./signatures/provider.ts";
export type { ProviderName } from "./signatures/providers/index.ts";
