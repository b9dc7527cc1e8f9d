import { sharedRedisUrl, startRestFront, uniquePrefix } from "anvil-testkit";
import { Redis } from "ioredis";
import { describe, expect, it } from "vitest";
import { AnvilError } from "../contract/errors.ts";
import { type Log, silentLog } from "../contract/log.ts";
import { deadlineIn } from "./deadline.ts";
import { eventStoreContract } from "./event-store.contract.ts";
import { someJob } from "./fixtures.ts";
import { restStore } from "./rest-store.ts";

eventStoreContract("over REST", async (prefix) => {
  const front = await startRestFront(sharedRedisUrl());
  const store = restStore(front, { prefix }, 2_000, silentLog);
  return { store, close: () => front.stop() };
});

const DEADLINE_MS = 1_000;

async function started(log: Log = silentLog) {
  const prefix = uniquePrefix();
  const front = await startRestFront(sharedRedisUrl());
  const store = restStore(front, { prefix }, DEADLINE_MS, log);
  const enqueue = (job = someJob()) => store.enqueue(deadlineIn(DEADLINE_MS), job);
  return { prefix, front, store, enqueue };
}

async function waiting(prefix: string): Promise<number> {
  const redis = new Redis(sharedRedisUrl());
  const length = await redis.llen(`${prefix}:webhooks:wait`);
  redis.disconnect();
  return length;
}

const unavailable = { code: "redis_unavailable" };

describe("REST in trouble", () => {
  it("takes one request for an event", async () => {
    const { front, enqueue } = await started();
    for (let n = 1; n <= 5; n++) {
      await enqueue();
      expect(front.requests()).toBe(n);
    }
  });

  it("asks again after a lost reply, and takes the job for its own", async () => {
    const { prefix, front, enqueue } = await started();
    const job = someJob();
    front.fail({ kind: "lost reply" }, 1);
    expect(await enqueue(job)).toEqual({ jobId: job.id, replayed: false });
    expect(await waiting(prefix)).toBe(1);
  });

  it("gives up a silent request in time for another, and answers by the deadline when all are silent", async () => {
    const { prefix, front, enqueue } = await started();
    front.fail({ kind: "silence" }, 1);
    expect((await enqueue()).replayed).toBe(false);
    front.fail({ kind: "silence" }, Number.POSITIVE_INFINITY);
    const from = performance.now();
    await expect(enqueue()).rejects.toMatchObject(unavailable);
    expect(performance.now() - from).toBeLessThan(DEADLINE_MS + 300);
    expect(await waiting(prefix)).toBe(1);
  });

  for (const [what, status, body] of [
    ["429", 429, '{"error":"ERR max daily request limit exceeded"}'],
    ["500 in JSON", 500, '{"error":"ERR internal"}'],
    ["502 of a gateway", 502, "<html>bad gateway</html>"],
    ["401", 401, '{"error":"WRONGPASS invalid or missing auth token"}'],
    ["an empty 200", 200, "{}"],
    ["a 200 with something else in it", 200, '{"result":"QWJvcnRlZA=="}'],
  ] as const) {
    it(`never takes ${what} for stored, and leaves no mark`, async () => {
      const { prefix, front, enqueue } = await started();
      const job = someJob();
      front.fail({ kind: "answer", status, body }, Number.POSITIVE_INFINITY);
      const from = performance.now();
      await expect(enqueue(job)).rejects.toMatchObject(unavailable);
      expect(performance.now() - from).toBeLessThan(DEADLINE_MS + 300);
      front.heal();
      expect(await enqueue(job)).toEqual({ jobId: job.id, replayed: false });
      expect(await waiting(prefix)).toBe(1);
    });
  }

  it("tells an event that is too large from trouble", async () => {
    const { front, enqueue } = await started();
    const body = '{"error":"ERR max request size exceeded. Limit: 10485760 bytes"}';
    front.fail({ kind: "answer", status: 400, body }, 1);
    await expect(enqueue()).rejects.toMatchObject({ code: "event_too_large" });
  });

  it("can't be reached at all", async () => {
    const { front, enqueue } = await started();
    await front.stop();
    await expect(enqueue()).rejects.toMatchObject(unavailable);
  });

  it("puts neither the body nor the token into an error or the log, though the client's errors quote both", async () => {
    const lines: string[] = [];
    const keep = (fields: object, message: string) => lines.push(JSON.stringify({ message, ...fields }));
    const { front, enqueue } = await started({ info: keep, warn: keep, error: keep });
    for (const fault of [
      { kind: "answer", status: 500, body: '{"error":"ERR internal"}' },
      { kind: "answer", status: 502, body: "made-up-page" },
      { kind: "lost reply" },
    ] as const) {
      front.fail(fault, Number.POSITIVE_INFINITY);
      const error = await enqueue(someJob({ body: "made-up-body" })).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(AnvilError);
      lines.push(JSON.stringify({ message: (error as Error).message, stack: (error as Error).stack }));
    }
    expect(lines.join()).not.toMatch(/made-up-body|made-up-page/);
    expect(lines.join()).not.toContain(front.token);
  });

  it("refuses a URL and a token that can't be right, both at once, by name", () => {
    const wrong = () => restStore({ url: "upstash.example", token: " " }, {}, DEADLINE_MS, silentLog);
    expect(wrong).toThrow(/UPSTASH_REDIS_REST_URL[\s\S]*UPSTASH_REDIS_REST_TOKEN/);
  });
});
