import { createHmac } from "node:crypto";
import { sharedRedisUrl, uniquePrefix } from "anvil-testkit";
import { Redis } from "ioredis";
import { onTestFinished } from "vitest";
import { silentLog } from "webhook-anvil";
import { createServer, type Server, type ServerOptions } from "webhook-anvil/ingress";
import { type DeadLetter, jobState, showDead } from "webhook-anvil/queue";
import {
  createWorker,
  type Handler,
  type HandlerMap,
  type Worker,
  type WorkerOptions,
} from "webhook-anvil/worker";

export const SECRET = "made-up-secret-of-the-tests";

export type Stored = { readonly jobId: string; readonly replayed: boolean };

/** Ingress and workers of one test, on a prefix of its own; all of it is closed when the test ends. */
export type Chain = {
  readonly redis: Redis;
  readonly prefix: string;
  readonly url: string;
  readonly app: Server;
  /** Signs and delivers a body to the default source. @returns the 202's content; anything else throws */
  deliver(body: string | Uint8Array): Promise<Stored>;
  /** A worker, started. */
  work(handler: Handler | HandlerMap, options?: WorkerOptions): Promise<Worker>;
  key(part: string, queue?: string): string;
  state(jobId: string): Promise<string>;
  letter(jobId: string): Promise<DeadLetter | undefined>;
};

export function startChain(options: ServerOptions & { url?: string } = {}): Chain {
  const { url = sharedRedisUrl(), ...serverOptions } = options;
  const prefix = uniquePrefix();
  const redis = new Redis(url);
  redis.on("error", () => {});
  const app = createServer({
    ...(serverOptions.sources ? {} : { secret: SECRET }),
    retry: { schedule: [50, 50, 50, 50] },
    redis: url,
    prefix,
    log: silentLog,
    ...serverOptions,
  });
  const workers: Worker[] = [];
  onTestFinished(async () => {
    await Promise.all(workers.map((worker) => worker.close()));
    await app.close();
    redis.disconnect();
  });
  return {
    redis,
    prefix,
    url,
    app,
    async deliver(body) {
      const signature = createHmac("sha256", SECRET).update(body).digest("hex");
      const answer = await app.request("/webhooks", {
        method: "POST",
        body,
        headers: { "x-signature": `sha256=${signature}` },
      });
      if (answer.status !== 202) throw new Error(`${answer.status} ${await answer.text()}`);
      return (await answer.json()) as Stored;
    },
    async work(handler, workerOptions = {}) {
      const worker = createWorker(handler, {
        redis: url,
        prefix,
        log: silentLog,
        drainMs: 2_000,
        ...workerOptions,
      });
      workers.push(worker);
      await worker.start();
      return worker;
    },
    key: (part, queue = "webhooks") => `${prefix}:${queue}:${part}`,
    state: (jobId) => jobState(redis, { prefix }, jobId),
    letter: (jobId) => showDead(redis, { prefix }, jobId),
  };
}
