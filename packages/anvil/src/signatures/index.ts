export { defineConfig } from "./define-config.ts";
export { resolveDurability } from "./durability-setting.ts";
export type { HeaderSource } from "./headers.ts";
export type {
  Field,
  HmacScheme,
  Provider,
  SignatureHeader,
  SignatureLayout,
  Timestamp,
} from "./provider.ts";
export { type ProviderName, providers } from "./providers/index.ts";
export { type ServedSource, servedSources } from "./served-sources.ts";
export { signDelivery } from "./sign.ts";
export {
  type ResolvedConfig,
  type ResolvedSource,
  resolveConfig,
} from "./sources.ts";
export type { Refusal, RefusalReason } from "./verdict.ts";
export { type Verified, verifyDelivery } from "./verify.ts";
