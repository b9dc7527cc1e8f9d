import { createHash, createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { spawnNode, type TestProcess, temporaryFolder, waitUntil } from "anvil-testkit";
import { onTestFinished } from "vitest";
import type { Handler, Worker, WorkerOptions } from "webhook-anvil/worker";
import { type Chain, SECRET, startChain } from "../chain/chain.ts";
import { handlerOnRequest } from "../processes/handler-on-request.ts";

/** Locks and stall checks of a few tenths of a second, so that a death is noticed while the test watches. */
export const QUICK = { lockMs: 800, stallCheckMs: 200, sweepMs: 100 };

export type IngressProcess = { readonly process: TestProcess; send(body: string): Promise<Response> };

/** A chain whose ingress, workers and replayers are processes that die where they are told to. */
export type Protocol = Chain & {
  /** A worker that dies at that step: `before:bury`. Without one it lives. */
  worker(dieAt?: string, options?: object, env?: Record<string, string>): TestProcess;
  /** What the workers' processes run, for one in this process. */
  readonly handler: Handler;
  /** The next worker, with the same handler, in this process. */
  nextWorker(options?: WorkerOptions): Promise<Worker>;
  ingress(dieAt?: string): Promise<IngressProcess>;
  replayer(jobIds: readonly string[], dieAt?: string): TestProcess;
  /** Lines that handlers wrote outside Redis: `charged <id>`, `started <id> <attempt>`, … */
  effects(about?: string): Promise<string[]>;
  /** Every place of either queue that holds the job, its hashes among them. One list and one hash is as it must be. */
  places(jobId: string): Promise<string[]>;
  /** sha256 of the body that the job carries, wherever it lies. */
  bodyDigest(jobId: string): Promise<string>;
  settled(jobId: string, state: string): Promise<void>;
};

export async function startProtocol(options: Parameters<typeof startChain>[0] = {}): Promise<Protocol> {
  const chain = startChain(options);
  const folder = await temporaryFolder("boundaries");
  onTestFinished(() => folder.remove());
  const effectsFile = join(folder.path, "effects");
  const handler = handlerOnRequest(effectsFile);
  const spawn = (
    entry: string,
    env: Record<string, string>,
    dieAt: string | undefined,
    args: string[] = [],
  ) =>
    spawnNode({
      entry,
      args,
      env: { REDIS_URL: chain.url, PREFIX: chain.prefix, ...env, DIE_AT: dieAt },
    });

  return {
    ...chain,
    worker: (dieAt, workerOptions = {}, env = {}) =>
      spawn(
        "test/processes/worker.ts",
        { EFFECTS: effectsFile, WORKER_OPTIONS: JSON.stringify({ ...QUICK, ...workerOptions }), ...env },
        dieAt,
      ),
    handler,
    nextWorker: (workerOptions = {}) => chain.work(handler, { ...QUICK, ...workerOptions }),
    ingress: (dieAt) => spawnIngress({ REDIS_URL: chain.url, PREFIX: chain.prefix, DIE_AT: dieAt }),
    replayer: (jobIds, dieAt) => spawn("test/processes/replayer.ts", {}, dieAt, [...jobIds]),
    async effects(about = "") {
      const text = await readFile(effectsFile, "utf8").catch(() => "");
      return text.split("\n").filter((line) => line !== "" && line.startsWith(about));
    },
    places: (jobId) => places(chain, jobId),
    async bodyDigest(jobId) {
      const queue = (await chain.redis.exists(chain.key(jobId))) === 1 ? "webhooks" : "webhooks.dead";
      const { body } = JSON.parse((await chain.redis.hget(chain.key(jobId, queue), "data")) ?? "{}");
      return sha256(String(body));
    },
    async settled(jobId, state) {
      await waitUntil(async () => (await chain.state(jobId)) === state, {
        what: `${jobId} is ${state}`,
        timeoutMs: 15_000,
      });
    },
  };
}

/** An ingress in a process of its own, once it listens. */
export async function spawnIngress(env: Record<string, string | undefined>): Promise<IngressProcess> {
  const process = spawnNode({
    entry: "test/processes/ingress.ts",
    env: { WEBHOOK_SECRET: SECRET, PREFIX: "{anvil}", DIE_AT: undefined, ...env },
  });
  const [, port] = await process.waitForLine(/^port (\d+)$/, { timeoutMs: 15_000 });
  const send = (body: string) =>
    fetch(`http://127.0.0.1:${port}/webhooks`, { method: "POST", body, headers: signature(body) });
  return { process, send };
}

export function signature(body: string): Record<string, string> {
  return { "x-signature": createHmac("sha256", SECRET).update(body).digest("hex") };
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

async function places({ redis, key }: Chain, jobId: string): Promise<string[]> {
  const found: string[] = [];
  for (const queue of ["webhooks", "webhooks.dead"]) {
    for (const list of ["wait", "paused", "active"]) {
      const ids = await redis.lrange(key(list, queue), 0, -1);
      found.push(...ids.filter((id) => id === jobId).map(() => `${queue}:${list}`));
    }
    for (const set of ["delayed", "prioritized", "completed", "failed"]) {
      if ((await redis.zscore(key(set, queue), jobId)) !== null) found.push(`${queue}:${set}`);
    }
    if ((await redis.exists(key(jobId, queue))) === 1) found.push(`${queue}:job`);
  }
  return found;
}

export const WAITING = ["webhooks:wait", "webhooks:job"];
export const DELAYED = ["webhooks:delayed", "webhooks:job"];
export const ACTIVE = ["webhooks:active", "webhooks:job"];
export const DONE = ["webhooks:completed", "webhooks:job"];
/** Failed for good, and not buried. */
export const FAILED = ["webhooks:failed", "webhooks:job"];
export const DEAD = ["webhooks.dead:failed", "webhooks.dead:job"];

/** The process died of its own SIGKILL, at that step. */
export async function diedAt(process: TestProcess, dieAt: string): Promise<void> {
  await process.waitForLine(new RegExp(`^died ${dieAt.replace(":", " ")}`), { timeoutMs: 15_000 });
  const end = await process.exited;
  if (end.signal !== "SIGKILL") throw new Error(`it ended with ${JSON.stringify(end)}`);
}
