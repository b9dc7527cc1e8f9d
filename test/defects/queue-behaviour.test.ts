import { waitUntil } from "anvil-testkit";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Log, silentLog, Unrecoverable } from "webhook-anvil";
import { createServer } from "webhook-anvil/ingress";
import { bury, sweep } from "webhook-anvil/queue";
import { replayDeadLetter } from "webhook-anvil/replay";
import { runHere } from "../../packages/cli/src/fixtures/run-here.ts";
import { QUICK, startProtocol } from "../boundaries/protocol.ts";
import { type Chain, SECRET, startChain } from "../chain/chain.ts";

const dead = (chain: Chain, jobId: string) =>
  waitUntil(() => chain.letter(jobId), { what: `${jobId} is a dead letter` });
const inState = (chain: Chain, jobId: string, state: string) =>
  waitUntil(async () => (await chain.state(jobId)) === state, { what: `${jobId} is ${state}` });
const at = ({ url, prefix }: Chain) => ({ redis: url, prefix, log: silentLog });

describe("H-42: running an event again whose job still exists", () => {
  const ways: Readonly<Record<string, (chain: Chain, jobId: string, body: string) => Promise<unknown>>> = {
    "replayDeadLetter()": (chain, jobId) => replayDeadLetter(jobId, at(chain)),
    "`anvil replay`": async ({ url, prefix }, jobId) => {
      const done = await runHere(["replay", jobId, "--json"], {
        env: { REDIS_URL: url, ANVIL_PREFIX: prefix },
      });
      expect(done.code).toBe(0);
    },
    "retry in a BullMQ dashboard": async (chain, jobId) => {
      const connection = new Redis(chain.url, { maxRetriesPerRequest: null });
      const queue = new Queue("webhooks.dead", { prefix: chain.prefix, connection: connection as never });
      await (await queue.getJob(jobId))?.retry();
      await queue.close();
      connection.disconnect();
      await sweep(chain.redis, chain);
    },
    "a redelivery, where the source says onDeadRedelivery: replay": (chain, _, body) => chain.deliver(body),
  };
  for (const [way, again] of Object.entries(ways)) {
    it(`H-42 ${way} really runs it`, async () => {
      const chain = startChain({
        sources: { default: { provider: "hmac", secret: SECRET, onDeadRedelivery: "replay" } },
        retry: { schedule: [] },
      });
      const runs: string[] = [];
      await chain.work((event) => {
        runs.push(event.text);
        if (runs.length === 1) throw new Error("boom");
      });
      const body = `{"way":"${way}"}`;
      const { jobId } = await chain.deliver(body);
      await dead(chain, jobId);
      await again(chain, jobId, body);
      await inState(chain, jobId, "completed");
      expect(runs).toEqual([body, body]);
    });
  }

  it("H-42 nothing says so where nothing runs: a duplicate, a replay of what is waiting or done", async () => {
    const chain = startChain();
    const { jobId } = await chain.deliver("{}");
    expect(await chain.deliver("{}")).toEqual({ jobId, replayed: true });
    expect(await replayDeadLetter(jobId, at(chain))).toMatchObject({ replayed: false, reason: "not_dead" });
    expect(await chain.redis.llen(chain.key("wait"))).toBe(1);
    await chain.work(() => {});
    await inState(chain, jobId, "completed");
    expect(await chain.deliver("{}")).toEqual({ jobId, replayed: true });
    expect(await replayDeadLetter(jobId, at(chain))).toMatchObject({ replayed: false, reason: "done" });
    expect(await chain.redis.llen(chain.key("wait"))).toBe(0);
  });
});

it("H-43 a handler that blocks the event loop for twice the lock runs on another worker too, and charges once", async () => {
  const protocol = await startProtocol();
  const { jobId } = await protocol.deliver('{"charge":"key","blockMs":1600}');
  const blocked = protocol.worker(undefined, { concurrency: 1 }, { LOG: "console" });
  await waitUntil(async () => (await protocol.effects("charged")).length === 1, {
    what: "the first one blocks",
    timeoutMs: 15_000,
  });
  // Does what the first does, only that it doesn't block this process.
  let took = () => {};
  const taken = new Promise<void>((resolve) => {
    took = resolve;
  });
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  await protocol.work(
    async (event, context) => {
      took();
      await protocol.handler({ ...event, json: () => ({ charge: "key" }) }, context);
      await finished;
    },
    { ...QUICK, concurrency: 1 },
  );
  await taken;
  // The loser was never told while it blocked; that its end counts for nothing stands in its log, with the job.
  await blocked.waitForLine(new RegExp(`Lock mismatch for job ${jobId}`), { timeoutMs: 10_000 });
  // It changed nothing: the job is the other's, until that one is done.
  const next = await protocol.deliver('{"next":true}');
  await protocol.settled(next.jobId, "completed");
  expect(await protocol.state(jobId)).toBe("active");
  finish();
  await protocol.settled(jobId, "completed");
  expect(await protocol.redis.hget(protocol.key(jobId), "atm")).toBe("1");
  expect(await protocol.effects(`started ${jobId}`)).toHaveLength(2);
  expect(await protocol.effects("charged")).toEqual([`charged ${jobId}`]);
});

describe("H-45: one dead letter for each job, and one line about it", () => {
  for (const [schedule, unrecoverable, runs] of [
    [[], false, 1],
    [[20, 20], false, 3],
    [[20, 20, 20, 20], false, 5],
    [[20, 20, 20, 20], true, 1],
  ] as const) {
    const what = unrecoverable ? "Unrecoverable on the first run" : `${runs} attempts`;
    it(`H-45 ${what}, three workers listening`, async () => {
      const lines: string[] = [];
      const keep = (fields: object, message: string) => lines.push(`${message} ${JSON.stringify(fields)}`);
      const log: Log = { info: keep, warn: keep, error: keep };
      const chain = startChain({ retry: { schedule } });
      let ran = 0;
      for (let n = 0; n < 3; n++) {
        await chain.work(
          () => {
            ran += 1;
            throw unrecoverable ? new Unrecoverable("no") : new Error("boom");
          },
          { log, sweepMs: 50 },
        );
      }
      const { jobId } = await chain.deliver("{}");
      expect((await dead(chain, jobId)).failureContext.attempts).toBe(runs);
      expect(ran).toBe(runs);
      // As if a second listener had seen the event, and a sweep came by.
      expect(await bury(chain.redis, chain, jobId)).toBe("not_failed");
      expect(await sweep(chain.redis, chain)).toEqual({ buried: 0, retried: 0 });
      expect(await chain.redis.zrange(chain.key("failed", "webhooks.dead"), 0, "-1")).toEqual([jobId]);
      const events = await chain.redis.xrange(chain.key("events", "webhooks.dead"), "-", "+");
      expect(events.filter(([, fields]) => fields.includes("failed"))).toHaveLength(1);
      expect(lines.filter((line) => line.startsWith("failed for good: dead letter"))).toHaveLength(1);
    });
  }
});

describe("H-46: schedules that BullMQ would stumble over later", () => {
  const wrong: unknown[] = [
    [0],
    [-1],
    [1.5],
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    ["3"],
    ["1s"],
    "3",
    5,
    {},
  ];
  for (const schedule of wrong) {
    it(`H-46 ${JSON.stringify(schedule)} (${String(schedule)}) is refused at start`, () => {
      const start = () =>
        createServer({ secret: SECRET, retry: { schedule: schedule as number[] }, log: silentLog });
      expect(start).toThrow(/retry/i);
    });
  }
  for (const text of ["0", "-1", "NaN", "3", "1s,,5s", "5 apples", "exponential"]) {
    it(`H-46 ANVIL_RETRY_SCHEDULE=${text} is refused at start`, () => {
      const start = () =>
        createServer({ secret: SECRET, env: { ANVIL_RETRY_SCHEDULE: text }, log: silentLog });
      expect(start).toThrow(/^[\s\S]*ANVIL_RETRY_SCHEDULE: /);
    });
  }

  it("H-46 n attempts are n runs, with the documented delay between them, by 20 %", async () => {
    const schedule = [400, 800];
    const chain = startChain({ retry: { schedule } });
    const startedAt: number[] = [];
    await chain.work(() => {
      startedAt.push(performance.now());
      throw new Error("boom");
    });
    const { jobId } = await chain.deliver("{}");
    await dead(chain, jobId);
    const gaps = startedAt.slice(1).map((time, index) => time - (startedAt[index] as number));
    expect(gaps).toHaveLength(schedule.length);
    for (const [index, gap] of gaps.entries()) {
      const wanted = schedule[index] as number;
      expect(gap).toBeGreaterThanOrEqual(wanted * 0.8);
      // On top of the 20 %, what a busy machine of the tests takes.
      expect(gap).toBeLessThan(wanted * 1.2 + 250);
    }
  });

  for (const [what, opts] of [
    ["an unknown strategy", { attempts: 3, backoff: { type: "fibonacci" } }],
    ["attempts as text", { attempts: "3", backoff: { type: "schedule", delays: [20, 20] } }],
    ["delays as text", { attempts: 3, backoff: { type: "schedule", delays: ["20", "20"] } }],
    ["a backoff that is a number", { attempts: 1, backoff: 5 }],
    ["no options at all", {}],
  ] as const) {
    it(`H-46 a job with ${what} never sticks: retried, or a dead letter`, async () => {
      const chain = startChain();
      const { jobId } = await chain.deliver("{}");
      await chain.redis.hset(chain.key(jobId), "opts", JSON.stringify(opts));
      await chain.work(() => {
        throw new Error("boom");
      });
      await waitUntil(async () => ["delayed", "dead"].includes(await chain.state(jobId)), {
        what: "the failure was handled",
      });
    });
  }
});

describe("H-48: replays that come at the wrong moment", () => {
  it("H-48 two at once, one of what is queued, done, removed or unknown: one run, and the rest are told why", async () => {
    const rejections: unknown[] = [];
    const keep = (reason: unknown) => rejections.push(reason);
    process.on("unhandledRejection", keep);
    onTestFinished(() => void process.off("unhandledRejection", keep));
    const chain = startChain({ retry: { schedule: [] } });
    const runs: string[] = [];
    let fail = true;
    await chain.work((event) => {
      runs.push(event.id);
      if (fail) throw new Error("boom");
    });
    const [first, second] = [await chain.deliver('{"n":1}'), await chain.deliver('{"n":2}')];
    for (const { jobId } of [first, second]) await dead(chain, jobId);
    fail = false;
    runs.length = 0;

    const { jobId } = first;
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => replayDeadLetter(jobId, at(chain))));
    expect(answers.filter((answer) => answer.replayed)).toHaveLength(1);
    for (const answer of answers.filter(({ replayed }) => !replayed)) {
      expect(["not_dead", "done"]).toContain((answer as { reason: string }).reason);
    }
    await inState(chain, jobId, "completed");
    expect(await replayDeadLetter(jobId, at(chain))).toMatchObject({ replayed: false, reason: "done" });
    // Removed by hand, with and without its place among the dead letters.
    await chain.redis.del(chain.key(second.jobId, "webhooks.dead"));
    const gone = { replayed: false, jobId: second.jobId, reason: "not_found" };
    expect(await replayDeadLetter(second.jobId, at(chain))).toEqual(gone);
    expect(await replayDeadLetter(second.jobId, at(chain))).toEqual(gone);
    for (const unknown of [`wh_${"0".repeat(32)}`, "wh_1", "failed", "", "../x"]) {
      const told = await replayDeadLetter(unknown, at(chain));
      expect(told).toEqual({ replayed: false, jobId: unknown, reason: "not_found" });
    }
    expect(runs).toEqual([jobId]);
    expect(rejections).toEqual([]);
  });
});
