import { createHmac } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Balance, keepBooks, type Ledger, uniquePrefix, waitUntil } from "anvil-testkit";
import { Redis } from "ioredis";
import { expect, onTestFinished } from "vitest";
import { silentLog } from "webhook-anvil";
import { createServer, type Server, type ServerOptions } from "webhook-anvil/ingress";
import type { RedisTarget } from "webhook-anvil/queue";
import { createWorker, type HandlerContext, type Worker, type WorkerOptions } from "webhook-anvil/worker";

const SECRET = "made-up-secret-of-the-tests";
/** The tightest that a common provider waits (Slack). */
export const LIMIT_MS = 3_000;

type Answer = { readonly status: number; readonly jobId?: string; readonly replayed?: boolean };

/** An ingress and workers on a Redis that is about to break, a sender that doesn't give up, and the books. */
export type Trouble = {
  readonly app: Server;
  readonly prefix: string;
  /** One try. Its answer is in the books, and came inside the limit. */
  deliver(event: string): Promise<Answer>;
  /** Tries until it is accepted, as providers do. */
  accept(event: string): Promise<Answer>;
  /** New events until it is stopped, each sent until it is accepted. */
  stream(everyMs: number): EventStream;
  /** A worker that charges each event once, by its idempotency key. */
  work(
    options?: WorkerOptions,
    before?: (context: HandlerContext, event: string) => Promise<void>,
  ): Promise<Worker>;
  /** How often each event was charged: by as many idempotency keys. */
  readonly effects: ReadonlyMap<string, number>;
  /** Every run of a handler that came to its end: `<event> <attempt>`. */
  readonly runs: readonly string[];
  /** Waits until every accepted event is done, then balances the books against this Redis. */
  settle(ledger: Ledger["redis"]): Promise<Balance>;
  /** Balances the books as things stand. */
  balance(ledger: Ledger["redis"]): Promise<Balance>;
};

type EventStream = {
  /** So many are accepted. */
  accepted(count: number): Promise<void>;
  /** No new ones until `resume`; resolves when those under way are accepted. */
  pause(): Promise<void>;
  resume(): void;
  stop(): Promise<void>;
};

export function startTrouble(redis: RedisTarget, options: ServerOptions = {}): Trouble {
  const { prefix = uniquePrefix() } = options;
  const books = keepBooks();
  const app = createServer({
    secret: SECRET,
    redis,
    log: silentLog,
    retry: { schedule: [200, 500] },
    ...options,
    prefix,
  });
  const workers: Worker[] = [];
  const keys = new Map<string, Set<string>>();
  const effects = new Map<string, number>();
  const runs: string[] = [];
  let over = false;
  onTestFinished(async () => {
    over = true;
    await Promise.all(workers.map((worker) => worker.close()));
    await app.close();
  });

  async function deliver(event: string): Promise<Answer> {
    const body = JSON.stringify({ event });
    const signature = createHmac("sha256", SECRET).update(body).digest("hex");
    const started = performance.now();
    const answer = await app.request("/webhooks", {
      method: "POST",
      body,
      headers: { "x-signature": `sha256=${signature}` },
    });
    const tookMs = performance.now() - started;
    const { jobId, replayed } = (await answer.json()) as { jobId?: string; replayed?: boolean };
    const told = {
      status: answer.status,
      ...(jobId === undefined ? {} : { jobId }),
      ...(replayed === undefined ? {} : { replayed }),
    };
    books.record({ event, body: Buffer.from(body), genuine: true }, { ...told, tookMs });
    expect([202, 503]).toContain(answer.status);
    expect(tookMs, "time to the answer").toBeLessThan(LIMIT_MS);
    return told;
  }

  async function accept(event: string): Promise<Answer> {
    for (;;) {
      const answer = await deliver(event);
      if (answer.status === 202) return answer;
      if (over) throw new Error(`${event} was never accepted`);
      await delay(100);
    }
  }

  const balance = (ledger: Ledger["redis"]): Promise<Balance> =>
    books.balance({ redis: ledger, prefix, effects });

  return {
    app,
    prefix,
    effects,
    runs,
    deliver,
    accept,
    balance,
    stream(everyMs) {
      const underWay = new Set<Promise<unknown>>();
      let count = 0;
      let sent = 0;
      let paused = false;
      const timer = setInterval(() => {
        // Many wait for a Redis that is down; without end they would be a load test.
        if (paused || underWay.size > 100) return;
        const sending = accept(`streamed-${sent++}`)
          .then(() => {
            count += 1;
          })
          .finally(() => underWay.delete(sending));
        sending.catch(() => {});
        underWay.add(sending);
      }, everyMs);
      onTestFinished(() => clearInterval(timer));
      const pause = async () => {
        paused = true;
        await Promise.all(underWay);
      };
      return {
        accepted: (least) =>
          waitUntil(() => count >= least, {
            what: `${least} streamed events are accepted`,
            timeoutMs: 15_000,
          }).then(() => {}),
        pause,
        resume() {
          paused = false;
        },
        async stop() {
          clearInterval(timer);
          await pause();
        },
      };
    },
    async work(workerOptions = {}, before = async () => {}) {
      const worker = createWorker(
        async (received, context) => {
          const { event } = received.json() as { event: string };
          await before(context, event);
          const charged = keys.get(event) ?? new Set();
          keys.set(event, charged.add(context.idempotencyKey));
          effects.set(event, charged.size);
          runs.push(`${event} ${context.attempt}`);
        },
        {
          ...{ redis, prefix, log: silentLog, drainMs: 1_000 },
          ...{
            lockMs: 2_000,
            stallCheckMs: 500,
            sweepMs: 500,
            keepCompleted: { count: 100_000, ageMs: 3_600_000 },
          },
          ...workerOptions,
        },
      );
      workers.push(worker);
      await worker.start();
      return worker;
    },
    async settle(ledger) {
      return await waitUntil(
        async () => {
          const seen = await balance(ledger);
          return seen.waiting === 0 && seen.lost.length === 0 ? seen : false;
        },
        { what: "every accepted event is done", timeoutMs: 15_000, intervalMs: 100 },
      ).catch(async (error: Error) => {
        // What is wrong says more than that it took long.
        const seen = await balance(ledger);
        throw new Error(`${error.message}: ${JSON.stringify({ ...seen, lost: seen.lost.slice(0, 5) })}`);
      });
    },
  };
}

export const nothingWrong = { lost: [], doubled: [], altered: [], forged: [] };

/** A client of the test's own, which is gone when the test ends. */
export function look(url: string): Redis {
  const redis = new Redis(url);
  redis.on("error", () => {});
  onTestFinished(() => redis.disconnect());
  return redis;
}

/** Scenarios that mostly wait, all at once; fails with the names of those that failed. */
export async function allAtOnce(scenarios: Readonly<Record<string, Promise<void>>>): Promise<void> {
  const names = Object.keys(scenarios);
  const outcomes = await Promise.allSettled(Object.values(scenarios));
  const failed = outcomes.flatMap((outcome, at) =>
    outcome.status === "rejected" ? [`${names[at]}: ${(outcome.reason as Error).message}`] : [],
  );
  expect(failed).toEqual([]);
}
