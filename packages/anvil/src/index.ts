export * from "./contract/index.ts";
export { createServer, type Server, type ServerOptions } from "./ingress/index.ts";
export { type Replayed, type ReplayOptions, replayDeadLetter } from "./replay/index.ts";
export { defineConfig, type Provider, type ProviderName } from "./signatures/index.ts";
export {
  createWorker,
  type Handler,
  type HandlerContext,
  type HandlerMap,
  type WebhookEvent,
  type Worker,
  type WorkerOptions,
} from "./worker/index.ts";
