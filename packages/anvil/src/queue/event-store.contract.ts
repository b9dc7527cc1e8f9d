import { sharedRedisUrl, snapshotKeys, uniquePrefix } from "anvil-testkit";
import { type Job, Queue } from "bullmq";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bury } from "./bury.ts";
import { deadlineIn } from "./deadline.ts";
import { BACKOFF_TYPE, jobName, type NewJob, STACK_TRACES_KEPT } from "./enqueue.ts";
import type { EventStore } from "./event-store.ts";
import { JANE, someJob } from "./fixtures.ts";
import { jobState } from "./inspect.ts";
import { onceWith } from "./once.ts";
import { queueKeys } from "./queue-place.ts";

/**
 * What every transport must do. Storing leaves in Redis exactly what the pinned BullMQ's `Queue.add` leaves, key
 * for key; an upgrade that changes its script fails here.
 */
export function eventStoreContract(
  name: string,
  open: (prefix: string) => Promise<{ store: EventStore; close(): Promise<void> }>,
): void {
  describe(`${name}: the event store`, () => {
    let redis: Redis;
    const closers: (() => Promise<unknown>)[] = [];
    beforeAll(() => {
      redis = new Redis(sharedRedisUrl(), { maxRetriesPerRequest: null });
    });
    afterAll(async () => {
      await Promise.all(closers.map((close) => close()));
      redis.disconnect();
    });

    async function opened(prefix = uniquePrefix()): Promise<{ store: EventStore; prefix: string }> {
      const { store, close } = await open(prefix);
      closers.push(close);
      return { store, prefix };
    }
    const soon = () => deadlineIn(2_000);

    function bullQueue(prefix: string): Queue {
      // Without the metadata that a Queue writes for itself: nobody reads it, and the ingress has none to write.
      const queue = new Queue("webhooks", { prefix, connection: redis as never, skipMetasUpdate: true });
      closers.push(() => queue.close());
      return queue;
    }

    /** What stands under a prefix, without the prefix itself and the ids that Redis gives stream entries. */
    async function contents(prefix: string): Promise<Record<string, unknown>> {
      const snapshot = await snapshotKeys(sharedRedisUrl(), prefix);
      const text = JSON.stringify(snapshot)
        .replaceAll(prefix, "{prefix}")
        .replace(/"\d{13}-\d+"/g, '"<stream id>"');
      const keys = JSON.parse(text) as Record<string, { value: Record<string, unknown> }>;
      for (const [key, { value }] of Object.entries(keys)) {
        if (!/:wh_[0-9a-f]{32}$/.test(key)) continue;
        // The order of an object's keys is all that may differ in the stored options, and the timestamp, which
        // Queue.add stores among them as well and nothing reads there.
        const { timestamp: _, ...options } = JSON.parse(value.opts as string) as Record<string, unknown>;
        value.opts = options;
      }
      return keys;
    }

    async function expiry(prefix: string): Promise<number> {
      const [key] = await redis.keys(`${prefix}:webhooks:de:*`);
      return redis.pttl(key as string);
    }

    it("stores a new event as Queue.add does, with the same expiry of its deduplication key", async () => {
      const { store, prefix: ours } = await opened();
      const theirs = uniquePrefix();
      const job = someJob();
      expect(await store.enqueue(soon(), job)).toEqual({ jobId: job.id, replayed: false });
      await addWithBullMq(bullQueue(theirs), job);
      expect(await contents(ours)).toEqual(await contents(theirs));
      expect(Object.keys(await contents(ours)).length).toBeGreaterThanOrEqual(6);
      expect(Math.abs((await expiry(ours)) - (await expiry(theirs)))).toBeLessThan(2_000);
      expect(await expiry(ours)).toBeGreaterThan(50_000);
    });

    it("names the first job when the event is delivered again, as Queue.add does", async () => {
      const { store, prefix: ours } = await opened();
      const theirs = uniquePrefix();
      const job = someJob();
      const again = { ...job, id: someJob().id };
      await store.enqueue(soon(), job);
      expect(await store.enqueue(soon(), again)).toEqual({ jobId: job.id, replayed: true });
      const target = bullQueue(theirs);
      await addWithBullMq(target, job);
      expect((await addWithBullMq(target, again)).id).toBe(job.id);
      expect(await contents(ours)).toEqual(await contents(theirs));
    });

    it("takes the same call again, after a lost answer, for what it is", async () => {
      const { store, prefix: ours } = await opened();
      const theirs = uniquePrefix();
      const job = someJob();
      await store.enqueue(soon(), job);
      expect(await store.enqueue(soon(), job)).toEqual({ jobId: job.id, replayed: false });
      const target = bullQueue(theirs);
      await addWithBullMq(target, job);
      await addWithBullMq(target, job);
      expect(await contents(ours)).toEqual(await contents(theirs));
    });

    it("stores into a paused queue as Queue.add does", async () => {
      const { store, prefix: ours } = await opened();
      const theirs = uniquePrefix();
      const job = someJob();
      for (const prefix of [ours, theirs]) await bullQueue(prefix).pause();
      await store.enqueue(soon(), job);
      await addWithBullMq(bullQueue(theirs), job);
      expect(await contents(ours)).toEqual(await contents(theirs));
    });

    it("carries bodies that are hard to carry", async () => {
      for (const body of [
        "",
        "\u0000",
        "\ufeff{}",
        "a\r\nb\u2028c",
        "😀",
        '"\\ud800"',
        "x".repeat(900_000),
      ]) {
        const { store, prefix: ours } = await opened();
        const theirs = uniquePrefix();
        const job = someJob({ body });
        await store.enqueue(soon(), job);
        await addWithBullMq(bullQueue(theirs), job);
        expect(await contents(ours)).toEqual(await contents(theirs));
      }
    });

    it("makes one job of fifty calls at once, and goes on after SCRIPT FLUSH", async () => {
      const { store, prefix } = await opened();
      const job = someJob();
      const answers = await Promise.all(
        Array.from({ length: 50 }, async (_, n) => {
          if (n % 10 === 0) await redis.script("FLUSH");
          return store.enqueue(soon(), { ...job, id: someJob().id });
        }),
      );
      expect(new Set(answers.map((answer) => answer.jobId)).size).toBe(1);
      expect(answers.filter((answer) => !answer.replayed)).toHaveLength(1);
      expect(await redis.llen(`${prefix}:webhooks:wait`)).toBe(1);
    });

    const jobs = (count: number) => Array.from({ length: count }, () => someJob());
    const ids = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);

    it("stores a list as Queue.add would one after the other, and knows it when it comes again", async () => {
      const { store, prefix: ours } = await opened();
      const theirs = uniquePrefix();
      const list = jobs(3);
      const stored = ids(list).map((jobId) => ({ jobId, replayed: false }));
      expect(await store.enqueueAll(soon(), list)).toEqual(stored);
      // As after a lost answer.
      expect(await store.enqueueAll(soon(), list)).toEqual(stored);
      const again = list.map((job) => ({ ...job, id: someJob().id }));
      expect(await store.enqueueAll(soon(), again)).toEqual(
        stored.map(({ jobId }) => ({ jobId, replayed: true })),
      );
      for (const job of [...list, ...list, ...again]) await addWithBullMq(bullQueue(theirs), job);
      expect(await contents(ours)).toEqual(await contents(theirs));
    });

    it("stores of a list what is new, once where it stands twice in it", async () => {
      const { store, prefix } = await opened();
      const [known, fresh] = jobs(2) as [NewJob, NewJob];
      await store.enqueue(soon(), known);
      const list = [known, fresh, fresh].map((job) => ({ ...job, id: someJob().id }));
      const [, first = ""] = ids(list);
      expect(await store.enqueueAll(soon(), list)).toEqual([
        { jobId: known.id, replayed: true },
        { jobId: first, replayed: false },
        { jobId: first, replayed: true },
      ]);
      expect(await redis.llen(`${prefix}:webhooks:wait`)).toBe(2);
    });

    it("makes one job for each event of lists that overlap and come at once, scripts flushed in between", async () => {
      const { store, prefix } = await opened();
      const all = jobs(12);
      const answers = await Promise.all(
        Array.from({ length: 10 }, async (_, n) => {
          if (n % 3 === 0) await redis.script("FLUSH");
          const part = all.slice(n % 5, (n % 5) + 8).map((job) => ({ ...job, id: someJob().id }));
          return (await store.enqueueAll(soon(), part)).map((one, at) => ({ ...one, event: (n % 5) + at }));
        }),
      );
      const events = new Set(answers.flat().map(({ event }) => event));
      for (const event of events) {
        const named = answers.flat().filter((one) => one.event === event);
        expect(new Set(named.map(({ jobId }) => jobId)).size).toBe(1);
        expect(named.filter(({ replayed }) => !replayed)).toHaveLength(1);
      }
      expect(await redis.llen(`${prefix}:webhooks:wait`)).toBe(events.size);
    });

    it("stores a thousand at once", async () => {
      const { store, prefix } = await opened();
      const answers = await store.enqueueAll(deadlineIn(10_000), jobs(1_000));
      expect(answers.every(({ replayed }) => !replayed)).toBe(true);
      expect(await redis.llen(`${prefix}:webhooks:wait`)).toBe(1_000);
    });

    it("lets no list with a poisoned job in it reach Redis", async () => {
      const { store, prefix } = await opened();
      const list = [someJob(), someJob({}, { dedupeMs: 0 })];
      await expect(store.enqueueAll(deadlineIn(200), list)).rejects.toThrow();
      expect(await snapshotKeys(sharedRedisUrl(), prefix)).toEqual({});
    });

    for (const limits of [undefined, { rate: { perSecond: 0.1, burst: 100 }, waiting: 100 }]) {
      it(`takes what is signed once with one event only, ${limits ? "with" : "without"} limits`, async () => {
        const { store, prefix } = await opened();
        const more = limits ? { limits } : {};
        const token = (text: string, key: string) => onceWith(text, "default", [key], 60_000);
        const job = someJob({}, more);
        const first = { ...job, once: token("made-up", job.envelope.key) };
        expect(await store.enqueue(soon(), first)).toEqual({ jobId: job.id, replayed: false });
        expect(await store.enqueue(soon(), { ...first, id: someJob().id })).toEqual({
          jobId: job.id,
          replayed: true,
        });
        const before = await snapshotKeys(sharedRedisUrl(), prefix);
        const other = someJob({}, more);
        const reused = { ...other, once: token("made-up", other.envelope.key) };
        await expect(store.enqueue(soon(), reused)).rejects.toMatchObject({ code: "token_reused" });
        expect(await snapshotKeys(sharedRedisUrl(), prefix)).toEqual(before);
        // The event that was refused, with what is its own.
        const honest = { ...other, once: token("another", other.envelope.key) };
        expect(await store.enqueue(soon(), honest)).toMatchObject({ replayed: false });
        const [key] = await redis.keys(`${prefix}:webhooks:once:*`);
        const left = await redis.pttl(key as string);
        expect(left).toBeGreaterThan(50_000);
        expect(left).toBeLessThanOrEqual(60_000);
      });
    }

    it("knows a dead letter, and replays it once", async () => {
      const { store, prefix } = await opened();
      const { main } = queueKeys({ prefix });
      const job = someJob();
      await store.enqueue(soon(), job);
      expect(await store.isDead(soon(), job.id)).toBe(false);
      await redis.lrem(main("wait"), 0, job.id);
      await redis.hset(main(job.id), { finishedOn: 1, failedReason: "boom", atm: 5 });
      await redis.zadd(main("failed"), 1, job.id);
      await bury(redis, { prefix }, job.id);
      expect(await store.isDead(soon(), job.id)).toBe(true);
      expect(await store.unbury(soon(), job.id, "mine", JANE)).toBe("replayed");
      expect(await store.unbury(soon(), job.id, "mine", JANE)).toBe("replayed");
      expect(await store.unbury(soon(), job.id, "yours", JANE)).toBe("not_dead");
      expect(await store.unbury(soon(), "wh_unknown", "mine", JANE)).toBe("not_found");
      expect(await jobState(redis, { prefix }, job.id)).toBe("waiting");
    });

    it("probes by a write that goes away by itself", async () => {
      const { store, prefix } = await opened();
      await store.probe(soon());
      const left = await redis.pttl(`${prefix}:webhooks:ready-probe`);
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(1_000);
    });

    // BullMQ's script stores the deduplication key before it stumbles over such an option, so that every
    // redelivery counts as a duplicate of a job that doesn't exist.
    for (const [what, job] of [
      ["NaN in the schedule", someJob({}, { schedule: [Number.NaN] })],
      ["Infinity in the schedule", someJob({}, { schedule: [Number.POSITIVE_INFINITY] })],
      ["a window of 0", someJob({}, { dedupeMs: 0 })],
      ["a window that is no whole number", someJob({}, { dedupeMs: 1.5 })],
      ["a time that is no number", someJob({ receivedAt: Number.NaN })],
      ["a key that is no sha256", someJob({ key: "undefined" })],
    ] as const) {
      it(`lets no poisoned option reach Redis: ${what}`, async () => {
        const { store, prefix } = await opened();
        await expect(store.enqueue(soon(), job)).rejects.toThrow();
        expect(await snapshotKeys(sharedRedisUrl(), prefix)).toEqual({});
      });
    }
  });
}

function addWithBullMq(target: Queue, job: NewJob): Promise<Job> {
  return target.add(jobName(job.envelope), job.envelope, {
    jobId: job.id,
    timestamp: job.envelope.receivedAt,
    attempts: job.schedule.length + 1,
    backoff: { type: BACKOFF_TYPE, delays: job.schedule } as never,
    deduplication: { id: job.envelope.key, ttl: job.dedupeMs },
    stackTraceLimit: STACK_TRACES_KEPT,
  });
}
