export { RetryAfter, Unrecoverable } from "../contract/handler-errors.ts";
export { createWorker, type Worker } from "./create-worker.ts";
export type { WebhookEvent } from "./event.ts";
export type { Handler, HandlerContext, HandlerMap } from "./handlers.ts";
export type { Step } from "./steps.ts";
export type { WorkerOptions } from "./worker-options.ts";
