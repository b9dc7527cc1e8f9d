import { createHmac } from "node:crypto";
import { waitUntil } from "anvil-testkit";
import { Queue } from "bullmq";
import { describe, expect, it } from "vitest";
import { DEFAULT_RETRY_SCHEDULE, silentLog } from "webhook-anvil";
import { replayDeadLetter } from "webhook-anvil/replay";
import type { WebhookEvent } from "webhook-anvil/worker";
import { type Chain, SECRET, startChain } from "./chain.ts";

const dead = (chain: Chain, jobId: string) =>
  waitUntil(() => chain.letter(jobId), { what: `${jobId} is a dead letter` });
const done = (chain: Chain, jobId: string) =>
  waitUntil(async () => (await chain.state(jobId)) === "completed", { what: `${jobId} is done` });

describe("the whole chain", () => {
  it("makes one job and one run of five deliveries, at once and one after the other", async () => {
    for (const atOnce of [true, false]) {
      const chain = startChain();
      const body = `{"type":"order.paid","atOnce":${atOnce}}`;
      const answers = [];
      if (atOnce) answers.push(...(await Promise.all([1, 2, 3, 4, 5].map(() => chain.deliver(body)))));
      else for (let n = 0; n < 5; n++) answers.push(await chain.deliver(body));
      expect(new Set(answers.map((answer) => answer.jobId)).size).toBe(1);
      expect(answers.filter((answer) => !answer.replayed)).toHaveLength(1);

      const runs: string[] = [];
      await chain.work((event) => {
        runs.push(event.id);
      });
      const jobId = answers[0]?.jobId as string;
      await done(chain, jobId);
      // Delivered again after it is done: still the same job, and no second run.
      expect(await chain.deliver(body)).toEqual({ jobId, replayed: true });
      const next = await chain.deliver(`{"after":${atOnce}}`);
      await done(chain, next.jobId);
      expect(runs).toEqual([jobId, next.jobId]);
    }
  });

  it("hands the handler the signed bytes, whatever they are", async () => {
    const chain = startChain();
    const received = new Map<string, WebhookEvent>();
    await chain.work((event) => {
      received.set(event.id, event);
    });
    const text = (value: string) => new TextEncoder().encode(value);
    for (const bytes of [
      Uint8Array.of(0xff, 0xfe, 0x00, 0x80),
      text('\ufeff{"bom":1}'),
      text('{"a":1}\r\n'),
      text('{"a":"\u2028"}'),
      text('{"a":"😀"}'),
    ]) {
      const { jobId } = await chain.deliver(bytes);
      await done(chain, jobId);
      expect(Buffer.from(received.get(jobId)?.bytes ?? []).toString("hex")).toBe(
        Buffer.from(bytes).toString("hex"),
      );
    }
  });

  it("runs a failing handler five times, then buries the job under the id that the 202 gave", async () => {
    const chain = startChain();
    const attempts: number[] = [];
    await chain.work((_, { attempt }) => {
      attempts.push(attempt);
      throw new Error(`boom ${attempt}`);
    });
    const { jobId } = await chain.deliver('{"type":"order.paid"}');
    const letter = await dead(chain, jobId);
    expect(attempts).toEqual([1, 2, 3, 4, 5]);
    expect(letter.failureContext).toMatchObject({
      attempts: 5,
      lastError: "boom 5",
      reason: "exhausted",
      replays: 0,
    });
    expect(letter.data).toMatchObject({ body: '{"type":"order.paid"}', failureContext: { attempts: 5 } });
    expect(letter.stacktrace.at(-1)).toContain("boom 5");
    expect(await chain.redis.zcard(chain.key("failed"))).toBe(0);
    // As any BullMQ tool sees it.
    const queue = new Queue("webhooks.dead", { prefix: chain.prefix, connection: chain.redis as never });
    const job = await queue.getJob(jobId);
    expect(await job?.getState()).toBe("failed");
    expect(job?.data.failureContext).toMatchObject({ attempts: 5, lastError: "boom 5" });
    await queue.close();
  });

  it("sets 1 s, 5 s, 30 s and 5 min on the job by default, and every one of them fires", async () => {
    const chain = startChain({ retry: { schedule: DEFAULT_RETRY_SCHEDULE } });
    let runs = 0;
    await chain.work(() => {
      runs += 1;
      throw new Error("boom");
    });
    const { jobId } = await chain.deliver("{}");
    const queue = new Queue("webhooks", { prefix: chain.prefix, connection: chain.redis as never });
    const delays: number[] = [];
    for (const delay of [1_000, 5_000, 30_000, 300_000]) {
      await waitUntil(async () => (await chain.state(jobId)) === "delayed" && runs === delays.length + 1, {
        what: `the job waits for retry ${delays.length + 1}`,
      });
      delays.push(Number(await chain.redis.hget(chain.key(jobId), "delay")));
      // BullMQ keeps the moment in the upper digits of the score; it must be that far away.
      const moment = Math.floor(Number(await chain.redis.zscore(chain.key("delayed"), jobId)) / 4096);
      expect(Math.abs(moment - Date.now() - delay)).toBeLessThan(900);
      // The clock of a Redis can't be turned; promoting stands in for the time that passes.
      await (await queue.getJob(jobId))?.promote();
    }
    expect(delays).toEqual([1_000, 5_000, 30_000, 300_000]);
    expect((await dead(chain, jobId)).failureContext.attempts).toBe(5);
    expect(runs).toBe(5);
    await queue.close();
  });

  it("waits as long as the schedule says between two runs", async () => {
    const schedule = [200, 400];
    const chain = startChain({ retry: { schedule } });
    const startedAt: number[] = [];
    await chain.work(() => {
      startedAt.push(performance.now());
      throw new Error("boom");
    });
    const { jobId } = await chain.deliver("{}");
    await dead(chain, jobId);
    const gaps = startedAt.slice(1).map((time, index) => time - (startedAt[index] as number));
    expect(gaps).toHaveLength(2);
    for (const [index, gap] of gaps.entries()) {
      expect(gap).toBeGreaterThanOrEqual((schedule[index] as number) - 5);
      expect(gap).toBeLessThan((schedule[index] as number) + 300);
    }
  });

  it("never fails over what failed: a run that succeeds at last is done, and its effect is there once", async () => {
    const chain = startChain();
    let effects = 0;
    await chain.work((_, { attempt }) => {
      if (attempt < 4) throw new Error("not yet");
      effects += 1;
    });
    const { jobId } = await chain.deliver("{}");
    await done(chain, jobId);
    expect(effects).toBe(1);
    expect(await chain.letter(jobId)).toBeUndefined();
  });
});

describe("replay", () => {
  it("of two at once, one says replayed; the handler runs again with the full schedule", async () => {
    const chain = startChain();
    const attempts: number[] = [];
    await chain.work((_, { attempt }) => {
      attempts.push(attempt);
      throw new Error("boom");
    });
    const body = '{"type":"order.paid"}';
    const { jobId } = await chain.deliver(body);
    await dead(chain, jobId);
    const options = { redis: chain.url, prefix: chain.prefix, log: silentLog };
    const answers = await Promise.all([replayDeadLetter(jobId, options), replayDeadLetter(jobId, options)]);
    expect(answers.filter((answer) => answer.replayed)).toHaveLength(1);
    expect(answers.find((answer) => !answer.replayed)).toEqual({
      replayed: false,
      jobId,
      reason: "not_dead",
    });
    const again = await waitUntil(
      async () => {
        const letter = await chain.letter(jobId);
        return letter?.failureContext.replays === 1 ? letter : undefined;
      },
      { what: "it is buried again" },
    );
    expect(attempts).toEqual([1, 2, 3, 4, 5, 1, 2, 3, 4, 5]);
    expect(again.failureContext.attempts).toBe(5);
    expect(again.failures).toHaveLength(1);
    // And through all of this the event is still known.
    expect(await chain.deliver(body)).toEqual({ jobId, replayed: true });
  });

  it("says why not: unknown, in the queue, done", async () => {
    const chain = startChain();
    const options = { redis: chain.url, prefix: chain.prefix, log: silentLog };
    expect(await replayDeadLetter("wh_unknown", options)).toMatchObject({
      replayed: false,
      reason: "not_found",
    });
    const { jobId } = await chain.deliver("{}");
    expect(await replayDeadLetter(jobId, options)).toMatchObject({ replayed: false, reason: "not_dead" });
    await chain.work(() => {});
    await done(chain, jobId);
    expect(await replayDeadLetter(jobId, options)).toMatchObject({ replayed: false, reason: "done" });
  });

  it("gives the handler the same idempotency key in every run, and none of the first run's signature age", async () => {
    const chain = startChain();
    const keys = new Set<string>();
    let fail = true;
    await chain.work((_, { idempotencyKey }) => {
      keys.add(idempotencyKey);
      if (fail) throw new Error("boom");
    });
    const { jobId } = await chain.deliver("{}");
    await dead(chain, jobId);
    fail = false;
    await replayDeadLetter(jobId, { redis: chain.url, prefix: chain.prefix, log: silentLog });
    await done(chain, jobId);
    expect(keys.size).toBe(1);
    expect([...keys][0]).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("an event delivered again while its job is a dead letter", () => {
  it("stays there by default, and the answer says so", async () => {
    const chain = startChain({ retry: { schedule: [] } });
    await chain.work(() => {
      throw new Error("boom");
    });
    const { jobId } = await chain.deliver("{}");
    await dead(chain, jobId);
    const answer = await chain.app.request("/webhooks", {
      method: "POST",
      body: "{}",
      headers: { "x-signature": createHmac("sha256", SECRET).update("{}").digest("hex") },
    });
    expect(await answer.json()).toEqual({ jobId, replayed: true });
    expect(answer.headers.get("x-anvil-dead-letter")).toBe("kept");
    expect(await chain.letter(jobId)).toBeDefined();
  });

  it("is replayed where its source says so", async () => {
    const chain = startChain({
      sources: { default: { provider: "hmac", secret: SECRET, onDeadRedelivery: "replay" } },
      retry: { schedule: [] },
    });
    let fail = true;
    await chain.work(() => {
      if (fail) throw new Error("boom");
    });
    const { jobId } = await chain.deliver("{}");
    await dead(chain, jobId);
    fail = false;
    expect(await chain.deliver("{}")).toEqual({ jobId, replayed: true });
    await done(chain, jobId);
  });
});
