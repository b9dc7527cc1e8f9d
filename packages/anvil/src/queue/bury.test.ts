import { sharedRedisUrl, snapshotKeys, uniquePrefix } from "anvil-testkit";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PastFailure, STALLED_MESSAGE } from "../contract/dead-letter.ts";
import { UNREADABLE_MESSAGE } from "../contract/envelope.ts";
import { bury } from "./bury.ts";
import { enqueue, type NewJob } from "./enqueue.ts";
import { JANE, someJob } from "./fixtures.ts";
import { jobState, listDead, queueStats, showDead } from "./inspect.ts";
import { queueKeys } from "./queue-place.ts";
import { sweep } from "./sweep.ts";
import { unbury } from "./unbury.ts";

let redis: Redis;
beforeAll(() => {
  redis = new Redis(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

const FAILED_AT = 1_760_000_000_123;

/** Who replayed a job, as it keeps it. */
async function history(key: string): Promise<(string | undefined)[]> {
  const failures = JSON.parse((await redis.hget(key, "failures")) ?? "[]") as PastFailure[];
  return failures.map((failure) => failure.replayed?.by);
}

/** A job as a worker leaves it that failed for good and died before it could bury it. */
async function failedJob(
  place: { prefix: string },
  fields: Record<string, string | number> = {},
  job: NewJob = someJob(),
): Promise<NewJob> {
  const { main } = queueKeys(place);
  await enqueue(redis, place, job);
  await redis.lrem(main("wait"), 0, job.id);
  await redis.hset(main(job.id), {
    finishedOn: FAILED_AT,
    processedOn: FAILED_AT - 5,
    failedReason: "boom",
    stacktrace: JSON.stringify(["Error: boom\n    at handler"]),
    atm: job.schedule.length + 1,
    ats: job.schedule.length + 1,
    ...fields,
  });
  await redis.zadd(main("failed"), String(FAILED_AT), job.id);
  return job;
}

describe("bury", () => {
  it("moves a job that failed for good, with everything it has", async () => {
    const place = { prefix: uniquePrefix() };
    const { main, dead } = queueKeys(place);
    const job = await failedJob(place);
    await redis.rpush(`${main(job.id)}:logs`, "a log line");
    const before = await redis.hgetall(main(job.id));

    expect(await bury(redis, place, job.id)).toBe("buried");

    const { data, failureContext, ...rest } = await redis.hgetall(dead(job.id));
    const { data: dataBefore, ...restBefore } = before;
    expect(rest).toEqual(restBefore);
    const context = { attempts: 3, lastError: "boom", reason: "exhausted", failedAt: FAILED_AT, replays: 0 };
    expect(JSON.parse(failureContext as string)).toEqual(context);
    expect(JSON.parse(data as string)).toEqual({
      ...JSON.parse(dataBefore as string),
      failureContext: context,
    });
    expect(await redis.lrange(`${dead(job.id)}:logs`, 0, -1)).toEqual(["a log line"]);
    expect(await redis.zrange(dead("failed"), 0, "-1")).toEqual([job.id]);
    expect(await redis.zcard(main("failed"))).toBe(0);
    expect(await redis.exists(main(job.id), `${main(job.id)}:logs`)).toBe(0);
    // The deduplication key stays: the event delivered again is still known.
    expect(await redis.get(main(`de:${job.envelope.key}`))).toBe(job.id);
    expect(await jobState(redis, place, job.id)).toBe("dead");
  });

  it("does nothing the second time, and nothing to a job that hasn't failed", async () => {
    const place = { prefix: uniquePrefix() };
    const job = await failedJob(place);
    const waiting = someJob();
    await enqueue(redis, place, waiting);
    await bury(redis, place, job.id);
    const before = await snapshotKeys(sharedRedisUrl(), place.prefix);
    expect(await bury(redis, place, job.id)).toBe("not_failed");
    expect(await bury(redis, place, waiting.id)).toBe("not_failed");
    expect(await bury(redis, place, "wh_unknown")).toBe("not_failed");
    expect(await snapshotKeys(sharedRedisUrl(), place.prefix)).toEqual(before);
  });

  it("leaves a job alone that is in the failed set without being finished", async () => {
    const place = { prefix: uniquePrefix() };
    const { main, dead } = queueKeys(place);
    const job = await failedJob(place);
    await redis.hdel(main(job.id), "finishedOn");
    expect(await bury(redis, place, job.id)).toBe("unfinished");
    expect(await redis.exists(dead(job.id))).toBe(0);
    // A sweep puts it back to work instead.
    expect(await sweep(redis, place)).toEqual({ buried: 0, retried: 1 });
    expect(await jobState(redis, place, job.id)).toBe("waiting");
  });

  it("never overwrites a dead letter of the same id", async () => {
    const place = { prefix: uniquePrefix() };
    const { dead } = queueKeys(place);
    const job = await failedJob(place);
    await redis.hset(dead(job.id), { name: "an earlier letter" });
    expect(await bury(redis, place, job.id)).toBe("already_dead");
    expect(await redis.hgetall(dead(job.id))).toEqual({ name: "an earlier letter" });
  });

  it("drops an id whose job was removed by hand, so that no sweep finds it for ever", async () => {
    const place = { prefix: uniquePrefix() };
    const { main } = queueKeys(place);
    const job = await failedJob(place);
    await redis.del(main(job.id));
    expect(await bury(redis, place, job.id)).toBe("gone");
    expect(await redis.zcard(main("failed"))).toBe(0);
  });

  for (const [reason, fields] of [
    ["exhausted", {}],
    ["exhausted", { stacktrace: "not json" }],
    ["stalled", { failedReason: STALLED_MESSAGE, atm: 1 }],
    ["unreadable", { failedReason: `${UNREADABLE_MESSAGE}its envelope has version 2`, atm: 1 }],
    ["unrecoverable", { failedReason: "no", atm: 1, stacktrace: '["Error: a","Unrecoverable: no\\n at x"]' }],
    // On the last attempt too: the handler said so.
    ["unrecoverable", { failedReason: "no", stacktrace: '["Unrecoverable: no"]' }],
    ["unrecoverable", { failedReason: "UnrecoverableError of somebody's own", atm: 1 }],
  ] as const) {
    it(`says why: ${reason} for ${JSON.stringify(fields)}`, async () => {
      const place = { prefix: uniquePrefix() };
      const job = await failedJob(place, fields);
      await bury(redis, place, job.id);
      expect((await showDead(redis, place, job.id))?.failureContext.reason).toBe(reason);
    });
  }

  it("keeps data that is no JSON as it is, there and back", async () => {
    for (const data of ["", "{", "not json", "[1]", "{}", '"text"', "null"]) {
      const place = { prefix: uniquePrefix() };
      const { main, dead } = queueKeys(place);
      const job = await failedJob(place, { data });
      await bury(redis, place, job.id);
      expect(await redis.hget(dead(job.id), "data")).toBe(data);
      expect(await unbury(redis, place, job.id, "a", JANE)).toBe("replayed");
      expect(await redis.hget(main(job.id), "data")).toBe(data);
    }
  });
});

describe("unbury", () => {
  it("puts a letter back as it was accepted, byte for byte, with its history", async () => {
    const place = { prefix: uniquePrefix() };
    const { main, dead } = queueKeys(place);
    const body = '{"a":1.0,"b":"\\u001b","c":12345678901234567890,"failureContext":{"attempts":7}}';
    const job = await failedJob(place, { stc: 4 }, someJob({ body }));
    const accepted = await redis.hget(main(job.id), "data");
    await bury(redis, place, job.id);

    expect(await unbury(redis, place, job.id, "first", JANE)).toBe("replayed");
    const back = await redis.hgetall(main(job.id));
    expect(back.data).toBe(accepted);
    for (const field of ["finishedOn", "failedReason", "atm", "ats", "stc", "failureContext"]) {
      expect(back[field], field).toBeUndefined();
    }
    expect(await jobState(redis, place, job.id)).toBe("waiting");
    expect(await redis.exists(dead(job.id))).toBe(0);

    // It fails again: buried again, and the letter remembers the first time.
    await redis.lrem(main("wait"), 0, job.id);
    await redis.hset(main(job.id), { finishedOn: FAILED_AT + 9, failedReason: "boom again", atm: 3 });
    await redis.zadd(main("failed"), String(FAILED_AT + 9), job.id);
    expect(await bury(redis, place, job.id)).toBe("buried");
    const letter = await showDead(redis, place, job.id);
    expect(letter?.failureContext).toMatchObject({ lastError: "boom again", replays: 1 });
    expect(letter?.failures).toEqual([
      {
        ...{ attempts: 3, lastError: "boom", reason: "exhausted", failedAt: FAILED_AT, replays: 0 },
        replayed: JANE,
      },
    ]);
  });

  it("says replayed again to the same call after a lost answer, and not_dead to another one", async () => {
    const place = { prefix: uniquePrefix() };
    const job = await failedJob(place);
    await bury(redis, place, job.id);
    expect(await unbury(redis, place, job.id, "mine", JANE)).toBe("replayed");
    expect(await unbury(redis, place, job.id, "mine", JANE)).toBe("replayed");
    expect(await unbury(redis, place, job.id, "yours", JANE)).toBe("not_dead");
    expect(await unbury(redis, place, "wh_unknown", "mine", JANE)).toBe("not_found");
    expect(await redis.lrange(queueKeys(place).main("wait"), 0, -1)).toEqual([job.id]);
    // Asked again, or by somebody else in vain: recorded once.
    expect(await history(queueKeys(place).main(job.id))).toEqual(["jane"]);
  });

  it("keeps who replayed it and why, of the last twenty replays", async () => {
    const place = { prefix: uniquePrefix() };
    const { main, dead } = queueKeys(place);
    const job = await failedJob(place);
    for (let n = 1; n <= 22; n++) {
      await redis.lrem(main("wait"), 0, job.id);
      await redis.hset(main(job.id), { finishedOn: FAILED_AT, failedReason: `boom ${n}`, atm: 3 });
      await redis.zadd(main("failed"), String(FAILED_AT), job.id);
      await bury(redis, place, job.id);
      const record = { at: n, by: `person ${n}`, reason: 'the "bank" is back 😀' };
      expect(await unbury(redis, place, job.id, String(n), record)).toBe("replayed");
    }
    expect(await redis.exists(dead(job.id))).toBe(0);
    const kept = JSON.parse((await redis.hget(main(job.id), "failures")) as string) as PastFailure[];
    expect(kept).toHaveLength(20);
    expect(kept.at(-1)).toMatchObject({
      lastError: "boom 22",
      replays: 21,
      replayed: { at: 22, by: "person 22", reason: 'the "bank" is back 😀' },
    });
    expect(kept[0]?.replayed?.by).toBe("person 3");
  });

  it("changes nothing when the record can't be read", async () => {
    const place = { prefix: uniquePrefix() };
    const job = await failedJob(place);
    await bury(redis, place, job.id);
    const before = await snapshotKeys(sharedRedisUrl(), place.prefix);
    const halfAPair = { at: 1, by: "\ud800" };
    await expect(unbury(redis, place, job.id, "mine", halfAPair)).rejects.toThrow();
    expect(await snapshotKeys(sharedRedisUrl(), place.prefix)).toEqual(before);
  });

  it("does not touch a queue that holds another job under this id", async () => {
    const place = { prefix: uniquePrefix() };
    const { main } = queueKeys(place);
    const job = await failedJob(place);
    await bury(redis, place, job.id);
    await redis.hset(main(job.id), { name: "another" });
    const before = await snapshotKeys(sharedRedisUrl(), place.prefix);
    expect(await unbury(redis, place, job.id, "mine", JANE)).toBe("id_taken");
    expect(await snapshotKeys(sharedRedisUrl(), place.prefix)).toEqual(before);
  });

  it("replays once for one call, though its answer was lost and the job has failed again since", async () => {
    const place = { prefix: uniquePrefix() };
    const { main } = queueKeys(place);
    const job = await failedJob(place);
    await bury(redis, place, job.id);
    expect(await unbury(redis, place, job.id, "mine", JANE)).toBe("replayed");
    await redis.lrem(main("wait"), 0, job.id);
    await redis.hset(main(job.id), { finishedOn: FAILED_AT, failedReason: "boom", atm: 3 });
    await redis.zadd(main("failed"), String(FAILED_AT), job.id);
    await bury(redis, place, job.id);

    expect(await unbury(redis, place, job.id, "mine", JANE)).toBe("replayed");
    expect(await jobState(redis, place, job.id)).toBe("dead");
    expect((await showDead(redis, place, job.id))?.failureContext.replays).toBe(1);
    expect((await showDead(redis, place, job.id))?.failures).toHaveLength(1);
    expect(await unbury(redis, place, job.id, "another call", JANE)).toBe("replayed");
    expect(await jobState(redis, place, job.id)).toBe("waiting");
  });

  it("replays a letter whose failure context was damaged by hand", async () => {
    const place = { prefix: uniquePrefix() };
    const { main, dead } = queueKeys(place);
    const job = await failedJob(place);
    await bury(redis, place, job.id);
    await redis.hset(dead(job.id), "failureContext", "{not json");
    expect(await unbury(redis, place, job.id, "mine", JANE)).toBe("replayed");
    expect(await redis.lrange(main("wait"), 0, -1)).toEqual([job.id]);
    expect(await history(main(job.id))).toEqual(["jane"]);
  });
});

describe("what other tools do to dead letters", () => {
  it("a retry in a BullMQ dashboard is a person's wish: the next sweep replays it", async () => {
    const place = { prefix: uniquePrefix() };
    const job = await failedJob(place);
    await bury(redis, place, job.id);
    const connection = new Redis(sharedRedisUrl(), { maxRetriesPerRequest: null });
    const queue = new Queue("webhooks.dead", { ...place, connection: connection as never });
    await (await queue.getJob(job.id))?.retry();
    expect(await jobState(redis, place, job.id)).toBe("unknown");
    expect(await sweep(redis, place)).toEqual({ buried: 0, retried: 1 });
    expect(await jobState(redis, place, job.id)).toBe("waiting");
    await queue.close();
    connection.disconnect();
  });
});

describe("jobs that BullMQ can't read", () => {
  for (const [what, fields] of [
    ["options that are no JSON", { opts: "{" }],
    ["options of null", { opts: "null" }],
    ["progress that is no JSON", { progress: "}" }],
  ] as const) {
    it(`end as dead letters, not as a stall without end: ${what}`, async () => {
      const place = { prefix: uniquePrefix() };
      const { main } = queueKeys(place);
      const job = someJob();
      await enqueue(redis, place, job);
      await redis.lrem(main("wait"), 0, job.id);
      await redis.lpush(main("active"), job.id);
      await redis.hset(main(job.id), { ...fields, stc: 3 });
      // Not given up by BullMQ yet: not ours to judge.
      expect(await sweep(redis, place)).toEqual({ buried: 0, retried: 0 });
      await redis.hset(main(job.id), { defa: STALLED_MESSAGE });
      expect(await sweep(redis, place)).toEqual({ buried: 1, retried: 0 });
      expect((await showDead(redis, place, job.id))?.failureContext.reason).toBe("unreadable");
    });
  }

  it("are left alone while they can be read, or somebody holds the lock", async () => {
    const place = { prefix: uniquePrefix() };
    const { main } = queueKeys(place);
    for (const fields of [{}, { opts: "{" }]) {
      const job = someJob();
      await enqueue(redis, place, job);
      await redis.lrem(main("wait"), 0, job.id);
      await redis.lpush(main("active"), job.id);
      await redis.hset(main(job.id), { ...fields, defa: STALLED_MESSAGE });
      if ("opts" in fields) await redis.set(`${main(job.id)}:lock`, "somebody");
    }
    expect(await sweep(redis, place)).toEqual({ buried: 0, retried: 0 });
    expect(await redis.llen(main("active"))).toBe(2);
  });
});

describe("many hands at once", () => {
  it("buriers, sweepers and replayers together lose nothing and double nothing, scripts flushed in between", async () => {
    const place = { prefix: uniquePrefix() };
    const { main, dead } = queueKeys(place);
    const jobs = await Promise.all(Array.from({ length: 60 }, () => failedJob(place)));
    let replayed = 0;
    await Promise.all([
      ...jobs.flatMap((job, index) => [
        bury(redis, place, job.id),
        bury(redis, place, job.id),
        unbury(redis, place, job.id, `a${index}`, JANE).then((result) => {
          replayed += result === "replayed" ? 1 : 0;
        }),
        unbury(redis, place, job.id, `b${index}`, JANE).then((result) => {
          replayed += result === "replayed" ? 1 : 0;
        }),
        ...(index % 10 === 0 ? [redis.script("FLUSH")] : []),
      ]),
      sweep(redis, place),
      sweep(redis, place),
    ]);
    await sweep(redis, place);
    const waiting = await redis.lrange(main("wait"), 0, -1);
    const letters = await redis.zrange(dead("failed"), 0, "-1");
    expect([...waiting, ...letters].sort()).toEqual(jobs.map((job) => job.id).sort());
    expect(replayed).toBe(waiting.length);
    expect(await redis.zcard(main("failed"))).toBe(0);
  });

  it("a sweep buries more than one batch, and stops at what it can't move", async () => {
    const place = { prefix: uniquePrefix() };
    const jobs = await Promise.all(Array.from({ length: 230 }, () => failedJob(place)));
    for (const job of jobs.slice(0, 3)) await redis.hset(queueKeys(place).dead(job.id), { name: "taken" });
    expect(await sweep(redis, place)).toEqual({ buried: 227, retried: 0 });
    expect((await queueStats(redis, place, Date.now())).unburied).toBe(3);
  });
});

describe("looking at dead letters", () => {
  it("lists the newest first, in pages, without bodies", async () => {
    const place = { prefix: uniquePrefix() };
    const jobs: NewJob[] = [];
    for (let n = 0; n < 5; n++) {
      const job = await failedJob(place, { finishedOn: FAILED_AT + n });
      await bury(redis, place, job.id);
      jobs.push(job);
    }
    const page = await listDead(redis, place, { offset: 1, limit: 2 });
    expect(page.total).toBe(5);
    expect(page.letters.map((letter) => letter.jobId)).toEqual([jobs[3]?.id, jobs[2]?.id]);
    expect(page.letters[0]).toMatchObject({ name: "default/test.event", failureContext: { attempts: 3 } });
    expect(JSON.stringify(page)).not.toContain("é");
  });

  it("counts jobs by state and knows how long the oldest has been waiting", async () => {
    const place = { prefix: uniquePrefix() };
    const old = someJob({ receivedAt: Date.now() - 90_000 });
    await enqueue(redis, place, old);
    await enqueue(redis, place, someJob());
    await failedJob(place);
    const stats = await queueStats(redis, place, Date.now());
    expect(stats).toMatchObject({ waiting: 2, active: 0, delayed: 0, completed: 0, unburied: 1, dead: 0 });
    expect(stats.oldestWaitingMs).toBeGreaterThanOrEqual(90_000);
    expect(stats.oldestWaitingMs).toBeLessThan(100_000);
    expect(await queueStats(redis, { prefix: uniquePrefix() }, Date.now())).toMatchObject({
      oldestWaitingMs: 0,
    });
  });
});
