export { defineConfig } from "./define-config.ts";
export { resolveDurability } from "./durability-setting.ts";
export { type Check, type Explanation, explainRequest } from "./explain.ts";
export { fieldLists } from "./fields.ts";
export type { HeaderSource } from "./headers.ts";
export type {
  Batch,
  Field,
  Fields,
  HmacScheme,
  JwtScheme,
  Provider,
  PublicKeyScheme,
  Scheme,
  SignatureField,
  SignatureHeader,
  SignatureLayout,
  SignaturePlace,
  Timestamp,
  TokenScheme,
} from "./provider.ts";
export { type ProviderName, providers } from "./providers/index.ts";
export { type FetchKey, KeyUnavailable, type WantedKey } from "./schemes/engine.ts";
export { type ServedSource, servedSources } from "./served-sources.ts";
export { type SignedRequest, signDelivery, signRequest, type UnsignedRequest } from "./sign.ts";
export {
  type ResolvedConfig,
  type ResolvedSource,
  resolveConfig,
} from "./sources.ts";
export { unknownProvider } from "./unknown-provider.ts";
export { judgeVector, type Vector } from "./vectors.ts";
export type { Refusal, RefusalReason } from "./verdict.ts";
export { type RequestToVerify, type Verdict, type VerifyOptions, verifyRequest } from "./verify.ts";
