import { Redis } from "ioredis";
import { expect, it, onTestFinished } from "vitest";
import { type Accountant, type Balance, keepBooks } from "./accountant.ts";
import { sharedRedisUrl, uniquePrefix } from "./redis.ts";

/** Jobs as they lie in Redis, put there by hand: what the accountant says of them must not depend on who put them. */
function stage() {
  const redis = new Redis(sharedRedisUrl());
  onTestFinished(() => redis.disconnect());
  const prefix = uniquePrefix();
  const books = keepBooks();
  const key = (part: string, queue = "webhooks") => `${prefix}:${queue}:${part}`;
  const id = (n: number) => `wh_${n.toString(16).padStart(32, "0")}`;
  return {
    redis,
    key,
    id,
    books,
    async job(n: number, body: string, queue = "webhooks"): Promise<string> {
      const envelope = { body: Buffer.from(body).toString("base64"), encoding: "base64" };
      await redis.hset(key(id(n), queue), "data", JSON.stringify(envelope));
      return id(n);
    },
    balance: (effects?: ReadonlyMap<string, number>) =>
      books.balance({ redis, prefix, ...(effects ? { effects } : {}) }),
  };
}

const sent = (event: string, body = `body of ${event}`, genuine = true) => ({
  event,
  body: Buffer.from(body),
  genuine,
});
const stored = (jobId: string, replayed = false, tookMs = 5) => ({ status: 202, jobId, replayed, tookMs });

const clean = { lost: [], doubled: [], altered: [], forged: [] };

/** Three events: done, waiting, dead; the first was delivered three times. */
async function threeEvents({ books, job, redis, key }: ReturnType<typeof stage>): Promise<void> {
  const done = await job(1, "body of one");
  await redis.zadd(key("completed"), 1, done);
  books.record(sent("one"), stored(done));
  books.record(sent("one"), "nothing");
  books.record(sent("one"), stored(done, true));
  const waiting = await job(2, "body of two");
  await redis.rpush(key("wait"), waiting);
  books.record(sent("two"), { status: 503, tookMs: 7 });
  books.record(sent("two"), stored(waiting));
  const dead = await job(3, "body of three", "webhooks.dead");
  await redis.zadd(key("failed", "webhooks.dead"), 1, dead);
  books.record(sent("three"), stored(dead));
}

it("finds nothing where everything is as it should be", async () => {
  const it = stage();
  await threeEvents(it);
  it.books.record(sent("forged", "body of one", false), { status: 401, tookMs: 1 });
  it.books.record(sent("never answered"), "nothing");
  expect(await it.balance(new Map([["one", 1]]))).toMatchObject({
    ...clean,
    accepted: 3,
    duplicates: 1,
    done: 1,
    waiting: 1,
    dead: 1,
    slowestMs: 7,
    slowest: expect.stringMatching(/^two: 503 at /),
  });
});

it("takes an event that landed without its 202 for no fault", async () => {
  const it = stage();
  await it.redis.zadd(it.key("completed"), 1, await it.job(1, "body of one"));
  it.books.record(sent("one"), "nothing");
  expect(await it.balance(new Map([["one", 1]]))).toMatchObject({ ...clean, accepted: 0 });
});

const faults: readonly [
  name: string,
  list: keyof Balance,
  what: RegExp,
  break_: (it: ReturnType<typeof stage>) => unknown,
][] = [
  ["a job that is gone", "lost", /one .* neither/, (it) => it.redis.zrem(it.key("completed"), it.id(1))],
  ["a job in no set", "lost", /two .* neither/, (it) => it.redis.del(it.key("wait"))],
  [
    "a job in two sets",
    "doubled",
    /three .* is dead and waiting/,
    (it) => it.redis.rpush(it.key("active"), it.id(3)),
  ],
  [
    "a job twice in one list",
    "doubled",
    /two .* waiting and waiting/,
    (it) => it.redis.rpush(it.key("wait"), it.id(2)),
  ],
  [
    "a second id for an event",
    "doubled",
    /one: answers named/,
    (it) => it.books.record(sent("one"), stored(it.id(4), true)),
  ],
  [
    "two answers that say new",
    "doubled",
    /two: 2 answers/,
    (it) => it.books.record(sent("two"), stored(it.id(2))),
  ],
  ["a second job with the same bytes", "doubled", /one: 2 jobs/, (it) => it.job(4, "body of one")],
  ["other bytes", "altered", /two .* not the sender's/, (it) => it.job(2, "body of tw0")],
  ["an unreadable envelope", "altered", /two/, (it) => it.redis.hset(it.key(it.id(2)), "data", "{")],
  ["a job that nobody sent", "forged", /nobody sent/, (it) => it.job(5, "made up")],
  [
    "a false signature that was accepted",
    "forged",
    /four: answered below 300/,
    (it) => it.books.record(sent("four", "body of one", false), stored(it.id(1), true)),
  ],
];

it.each(faults)("finds %s", async (_name, list, what, break_) => {
  const it = stage();
  await threeEvents(it);
  await break_(it);
  expect(await it.balance()).toMatchObject({ [list]: expect.arrayContaining([expect.stringMatching(what)]) });
});

it.each([
  [new Map([["one", 2]]), "doubled", /2 effects/],
  [new Map<string, number>(), "lost", /without its effect/],
  [
    new Map([
      ["one", 1],
      ["never", 1],
    ]),
    "doubled",
    /never: has an effect/,
  ],
] as const)("counts effects: %j", async (effects, list, what) => {
  const it = stage();
  await threeEvents(it);
  it.books.record(sent("never"), "nothing");
  expect(await it.balance(effects)).toMatchObject({ [list]: [expect.stringMatching(what)] });
});

it("refuses two bodies under one name: the books would mean nothing", () => {
  const books: Accountant = keepBooks();
  books.record(sent("one"), "nothing");
  expect(() => books.record(sent("one", "other"), "nothing")).toThrow("two bodies");
});
