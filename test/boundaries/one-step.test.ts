import { randomUUID } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startRedis, type TestRedis } from "anvil-testkit";
import { Redis } from "ioredis";
import { describe, expect, it } from "vitest";
import { bury, sweep, unbury } from "webhook-anvil/queue";
import { DEAD, FAILED, type Protocol, sha256, startProtocol, WAITING } from "./protocol.ts";

/**
 * Burial, replay, add and sweep are one script each. What that is worth when Redis itself dies: a script's writes
 * come back together or not at all, after whichever of them its log of appends ends.
 */
const durable = { appendonly: true, args: ["--appendfsync", "always"] };
const body = '{"amount":1.0,"text":"é😀"}';

describe("Redis dies between two writes of a script", () => {
  it("of the add: the event is new to the redelivery, or known and stored", async () => {
    const durably = await startDurable();
    const { protocol } = durably;
    const { cuts, restore } = await writesOf(durably, () => protocol.deliver(body));
    expect(cuts.length).toBeGreaterThan(5);
    for (const cut of cuts) {
      await restore(cut);
      const stored = await protocol.redis.lrange(protocol.key("wait"), 0, -1);
      const answer = await protocol.deliver(body);
      expect(answer.replayed, `cut at ${cut}`).toBe(stored.length === 1);
      expect(await protocol.places(answer.jobId)).toEqual(WAITING);
      expect(await protocol.bodyDigest(answer.jobId)).toBe(sha256(body));
    }
  });

  it("of a burial: failed still or a dead letter, whole; and the next sweep makes it one", async () => {
    const durably = await startDurable();
    const { protocol } = durably;
    const { jobId } = await protocol.deliver(body);
    await failForGood(protocol, jobId);
    const { cuts, restore } = await writesOf(durably, () => bury(protocol.redis, protocol, jobId));
    expect(cuts.length).toBeGreaterThan(5);
    const seen = new Set<string>();
    for (const cut of cuts) {
      await restore(cut);
      const places = await protocol.places(jobId);
      expect([FAILED, DEAD], `cut at ${cut}`).toContainEqual(places);
      seen.add(String(places));
      expect(await protocol.bodyDigest(jobId)).toBe(sha256(body));
      await sweep(protocol.redis, protocol);
      expect(await protocol.places(jobId)).toEqual(DEAD);
      expect((await protocol.letter(jobId))?.failureContext).toMatchObject({ attempts: 5, replays: 0 });
    }
    expect(seen.size).toBe(2);
  });

  it("of a replay: a dead letter still or waiting, whole; and the same replay again moves it, once", async () => {
    const durably = await startDurable();
    const { protocol } = durably;
    const { jobId } = await protocol.deliver(body);
    const accepted = await protocol.redis.hget(protocol.key(jobId), "data");
    await failForGood(protocol, jobId);
    await bury(protocol.redis, protocol, jobId);
    const token = randomUUID();
    const { cuts, restore } = await writesOf(durably, () => unbury(protocol.redis, protocol, jobId, token));
    expect(cuts.length).toBeGreaterThan(8);
    const seen = new Set<string>();
    for (const cut of cuts) {
      await restore(cut);
      const places = await protocol.places(jobId);
      expect([DEAD, WAITING], `cut at ${cut}`).toContainEqual(places);
      seen.add(String(places));
      expect(await unbury(protocol.redis, protocol, jobId, token)).toBe("replayed");
      expect(await protocol.places(jobId)).toEqual(WAITING);
      expect(await protocol.redis.hget(protocol.key(jobId), "data")).toBe(accepted);
      expect(await protocol.redis.hget(protocol.key(jobId), "replays")).toBe("1");
    }
    expect(seen.size).toBe(2);
  });
});

it("Redis is killed at random moments in the middle of hundreds of burials and replays: every job is in one place", async () => {
  const { protocol, redis } = await startDurable();
  const random = seeded(20_261_201);
  const jobs = await Promise.all(
    Array.from({ length: 60 }, async (_, n) => (await protocol.deliver(`{"n":${n}}`)).jobId),
  );
  for (const jobId of jobs) await failForGood(protocol, jobId);
  const told = new Map(jobs.map((jobId) => [jobId, { replays: 0, unsure: 0 }]));

  for (let kill = 1; kill <= 4; kill++) {
    const client = new Redis(redis.url, { maxRetriesPerRequest: 0, retryStrategy: () => null });
    client.on("error", () => {});
    let alive = true;
    client.once("close", () => {
      alive = false;
    });
    const churn = jobs.map(async (jobId) => {
      const count = told.get(jobId) as { replays: number; unsure: number };
      while (alive) {
        try {
          await failForGood(protocol, jobId, client);
          await bury(client, protocol, jobId);
        } catch {
          return;
        }
        count.unsure += 1;
        const result = await unbury(client, protocol, jobId, randomUUID()).catch(() => undefined);
        // Without an answer it may have happened.
        if (result === undefined) return;
        count.unsure -= 1;
        if (result === "replayed") count.replays += 1;
      }
    });
    await delay(150 + random() * 250);
    await redis.kill();
    await Promise.all(churn);
    client.disconnect();
    await redis.restart();
    for (const [index, jobId] of jobs.entries()) {
      expect([WAITING, FAILED, DEAD]).toContainEqual(await protocol.places(jobId));
      expect(await protocol.bodyDigest(jobId)).toBe(sha256(`{"n":${index}}`));
    }
  }

  let cycles = 0;
  await sweep(protocol.redis, protocol);
  for (const jobId of jobs) {
    const isDead = (await protocol.state(jobId)) === "dead";
    const job = await protocol.redis.hgetall(protocol.key(jobId, isDead ? "webhooks.dead" : "webhooks"));
    const { replays, unsure } = told.get(jobId) as { replays: number; unsure: number };
    const counted = Number(job.replays ?? 0);
    expect(counted).toBeGreaterThanOrEqual(replays);
    expect(counted).toBeLessThanOrEqual(replays + unsure);
    const failures = JSON.parse(job.failures ?? "[]") as { replays: number }[];
    expect(failures.map((failure) => failure.replays)).toEqual(
      Array.from({ length: counted }, (_, n) => n).slice(-20),
    );
    cycles += counted;
  }
  expect(cycles).toBeGreaterThan(300);
});

type Durable = { readonly redis: TestRedis; readonly protocol: Protocol };

async function startDurable(): Promise<Durable> {
  const redis = await startRedis(durable);
  return { redis, protocol: await startProtocol({ url: redis.url }) };
}

/**
 * Every end that Redis's log can have inside what `script` writes to it: after each of its writes, and in the middle
 * of the last. `restore` makes Redis come back from a log that ends there.
 */
async function writesOf({ redis, protocol }: Durable, script: () => Promise<unknown>) {
  const [, folder] = (await protocol.redis.config("GET", "dir")) as [string, string];
  const appends = join(folder, "appendonlydir");
  const name = (await readdir(appends)).find((file) => file.endsWith(".incr.aof")) as string;
  const path = join(appends, name);
  const before = (await readFile(path)).length;
  await script();
  await redis.kill();
  const log = await readFile(path);
  const cuts = [before, ...endsOfCommands(log, before)];
  cuts.splice(-1, 0, (cuts.at(-1) as number) - 5);
  return {
    cuts,
    async restore(cut: number) {
      await redis.kill();
      await writeFile(path, log.subarray(0, cut));
      await redis.restart();
    },
  };
}

/** A command in the log is an array of bulk strings, as in the protocol. */
function endsOfCommands(log: Buffer, from: number): number[] {
  const ends: number[] = [];
  const lineAt = (at: number) => log.toString("latin1", at, log.indexOf("\r\n", at));
  for (let at = from; at < log.length; ) {
    const line = lineAt(at);
    at += line.length + 2;
    for (let left = Number(line.slice(1)); left > 0; left--) {
      const length = lineAt(at);
      at += length.length + 2 + Number(length.slice(1)) + 2;
    }
    ends.push(at);
  }
  return ends;
}

/** As a worker leaves a job that dies before it can bury it; only if the job waits, and in one step. */
async function failForGood({ redis, key }: Protocol, jobId: string, client: Redis = redis): Promise<void> {
  await client.eval(
    `if redis.call('LREM', KEYS[1], 0, ARGV[1]) == 0 then return end
    redis.call('HSET', KEYS[2], 'finishedOn', ARGV[2], 'failedReason', 'boom', 'atm', 5)
    redis.call('ZADD', KEYS[3], ARGV[2], ARGV[1])`,
    3,
    ...[key("wait"), key(jobId), key("failed"), jobId, Date.now()],
  );
}

/** mulberry32: the same moments in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
