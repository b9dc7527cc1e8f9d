import { startTcpProxy, waitUntil } from "anvil-testkit";
import { Redis } from "ioredis";
import { describe, expect, it, onTestFinished } from "vitest";
import { silentLog } from "webhook-anvil";
import { bury } from "webhook-anvil/queue";
import { replayDeadLetter } from "webhook-anvil/replay";
import { DEAD, DELAYED, diedAt, FAILED, type Protocol, sha256, startProtocol, WAITING } from "./protocol.ts";

const body = '{"charge":"key","fail":9,"amount":1.0,"text":"é😀"}';

describe("a replay whose process dies", () => {
  it("before it reaches Redis: the letter stays, and the next replay moves it", async () => {
    const protocol = await startProtocol({ retry: { schedule: [] } });
    const jobId = await deadLetter(protocol);
    await diedAt(protocol.replayer([jobId], "before:unbury"), "before:unbury");
    expect(await protocol.places(jobId)).toEqual(DEAD);
    expect(await replay(protocol, jobId)).toEqual({ replayed: true, jobId });
    expect(await protocol.places(jobId)).toEqual(WAITING);
  });

  it("after Redis applied it, with nobody told: it is replayed once, and the next replay is told so", async () => {
    const protocol = await startProtocol({ retry: { schedule: [] } });
    const jobId = await deadLetter(protocol);
    await diedAt(protocol.replayer([jobId], "after:unbury"), "after:unbury");
    expect(await protocol.places(jobId)).toEqual(WAITING);
    expect(await replay(protocol, jobId)).toEqual({ replayed: false, jobId, reason: "not_dead" });
    expect(await protocol.bodyDigest(jobId)).toBe(sha256(body));
    await protocol.nextWorker();
    await protocol.settled(jobId, "dead");
    expect((await protocol.letter(jobId))?.failureContext.replays).toBe(1);
    // The letter was made without a run; the replay is the only one.
    expect(await protocol.effects("started")).toEqual([`started ${jobId} 1`]);
  });
});

describe("a replay during a burial", () => {
  it("that has not reached Redis yet: told that it isn't dead; the burial goes on as if nothing had been", async () => {
    const protocol = await startProtocol({ retry: { schedule: [] } });
    const { jobId } = await protocol.deliver(body);
    await diedAt(protocol.worker("before:bury", { sweepMs: 60_000 }), "before:bury");
    const failed = await protocol.redis.hgetall(protocol.key(jobId));
    expect(await replay(protocol, jobId)).toEqual({ replayed: false, jobId, reason: "not_dead" });
    expect(await protocol.places(jobId)).toEqual(FAILED);
    expect(await protocol.redis.hgetall(protocol.key(jobId))).toEqual(failed);
    expect(await bury(protocol.redis, protocol, jobId)).toBe("buried");
    expect(await replay(protocol, jobId)).toEqual({ replayed: true, jobId });
  });

  it("that is late: a burial that arrives after somebody else's, and after the replay, does nothing", async () => {
    const protocol = await startProtocol({ retry: { schedule: [60_000] } });
    const { late, arrive } = await lateBurial(protocol);
    const jobId = await deadLetter(protocol, { retries: 1 });
    const burying = late(jobId);
    expect(await replay(protocol, jobId)).toMatchObject({ replayed: true });
    const replayed = await protocol.redis.hgetall(protocol.key(jobId));
    arrive();
    expect(await burying).toBe("not_failed");
    expect(await protocol.places(jobId)).toEqual(WAITING);
    expect(await protocol.redis.hgetall(protocol.key(jobId))).toEqual(replayed);
  });

  it("that is late, when the replayed job has failed again and waits for its retry: it keeps its retry", async () => {
    const protocol = await startProtocol({ retry: { schedule: [60_000] } });
    const { late, arrive } = await lateBurial(protocol);
    const jobId = await deadLetter(protocol, { retries: 1 });
    const burying = late(jobId);
    await replay(protocol, jobId);
    await protocol.nextWorker();
    await protocol.settled(jobId, "delayed");
    arrive();
    expect(await burying).toBe("not_failed");
    expect(await protocol.places(jobId)).toEqual(DELAYED);
  });

  it("at the same moment, 100 times: buried, and then replayed or told that it isn't dead; nothing else", async () => {
    const protocol = await startProtocol({ retry: { schedule: [] } });
    const { redis, key, prefix } = protocol;
    const other = redis.duplicate();
    await other.ping();
    let replayed = 0;
    const jobs: string[] = [];
    for (let n = 0; n < 100; n++) {
      const { jobId } = await protocol.deliver(`{"n":${n}}`);
      jobs.push(jobId);
      await redis.lrem(key("wait"), 0, jobId);
      await redis.hset(key(jobId), { finishedOn: Date.now(), failedReason: "boom", atm: 1 });
      await redis.zadd(key("failed"), Date.now(), jobId);
      const answers = await Promise.all([
        bury(redis, { prefix }, jobId),
        replay(protocol, jobId, other),
        bury(other, { prefix }, jobId),
      ]);
      if (answers[1].replayed) replayed += 1;
      expect([answers[0], answers[2]].filter((result) => result === "buried")).toHaveLength(1);
      expect(await protocol.places(jobId)).toEqual(answers[1].replayed ? WAITING : DEAD);
    }
    expect(await redis.llen(key("wait"))).toBe(replayed);
    expect(await redis.zcard(key("failed", "webhooks.dead"))).toBe(100 - replayed);
    other.disconnect();
  });
});

it("a replay into a handler that still fails: buried again each time, its history kept in order", async () => {
  const protocol = await startProtocol({ retry: { schedule: [20] } });
  const { jobId } = await protocol.deliver(body);
  await protocol.nextWorker();
  for (let replays = 0; replays < 3; replays++) {
    const letter = await waitUntil(
      async () => {
        const found = await protocol.letter(jobId);
        return found?.failureContext.replays === replays ? found : undefined;
      },
      { what: `it is buried after ${replays} replays`, timeoutMs: 10_000 },
    );
    expect(await protocol.places(jobId)).toEqual(DEAD);
    expect(letter.failureContext).toMatchObject({ attempts: 2, reason: "exhausted" });
    expect(letter.failures.map((failure) => failure.replays)).toEqual([0, 1, 2].slice(0, replays));
    const times = [...letter.failures, letter.failureContext].map(({ failedAt }) => failedAt);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(await protocol.bodyDigest(jobId)).toBe(sha256(body));
    expect(await replay(protocol, jobId)).toEqual({ replayed: true, jobId });
  }
  expect(await protocol.effects("charged")).toEqual([`charged ${jobId}`]);
});

/** Failed for good and buried, by hand: workers are slow to start. */
async function deadLetter(protocol: Protocol, { retries = 0 } = {}): Promise<string> {
  const { redis, key } = protocol;
  const { jobId } = await protocol.deliver(body);
  await redis.lrem(key("wait"), 0, jobId);
  await redis.hset(key(jobId), { finishedOn: Date.now(), failedReason: "boom", atm: retries + 1 });
  await redis.zadd(key("failed"), Date.now(), jobId);
  expect(await bury(redis, protocol, jobId)).toBe("buried");
  return jobId;
}

/** A burial that is on its way to Redis until `arrive`. */
async function lateBurial(protocol: Protocol) {
  const proxy = await startTcpProxy(Number(new URL(protocol.url).port));
  const client = new Redis(`redis://127.0.0.1:${proxy.port}`);
  onTestFinished(() => client.disconnect());
  await client.ping();
  proxy.holdRequests();
  return { late: (jobId: string) => bury(client, protocol, jobId), arrive: () => proxy.release() };
}

function replay(protocol: Protocol, jobId: string, client?: Redis) {
  const connection = client && {
    client,
    where: "here",
    run: <T>(_: unknown, commands: (redis: Redis) => Promise<T>) => commands(client),
    close: async () => {},
  };
  return replayDeadLetter(jobId, {
    ...(connection ? { connection: connection as never } : { redis: protocol.url }),
    prefix: protocol.prefix,
    log: silentLog,
  });
}
