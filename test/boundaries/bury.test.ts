import { describe, expect, it } from "vitest";
import { sweep } from "webhook-anvil/queue";
import { ACTIVE, DEAD, diedAt, FAILED, sha256, startProtocol } from "./protocol.ts";

const body = '{"charge":"key","fail":9,"amount":1.0,"text":"é😀"}';

describe("a worker that dies around a burial", () => {
  for (const [dieAt, left, runs] of [
    ["before:handler-effect", ACTIVE, 2],
    ["after:handler-effect", ACTIVE, 2],
    ["before:fail", ACTIVE, 2],
    ["after:fail", FAILED, 1],
    ["before:bury", FAILED, 1],
    ["after:bury", DEAD, 1],
  ] as const) {
    it(`${dieAt}: one dead letter, after ${runs} run${runs > 1 ? "s" : ""}`, async () => {
      const protocol = await startProtocol({ retry: { schedule: [] } });
      const { jobId } = await protocol.deliver(body);
      await diedAt(protocol.worker(dieAt, { sweepMs: 60_000 }), dieAt);
      expect(await protocol.places(jobId)).toEqual(left);
      expect(await protocol.bodyDigest(jobId)).toBe(sha256(body));

      await protocol.nextWorker();
      await protocol.settled(jobId, "dead");
      expect(await protocol.places(jobId)).toEqual(DEAD);
      expect(await protocol.bodyDigest(jobId)).toBe(sha256(body));
      expect((await protocol.letter(jobId))?.failureContext).toMatchObject({
        attempts: 1,
        reason: "exhausted",
        replays: 0,
      });
      expect(await protocol.effects("charged")).toEqual([`charged ${jobId}`]);
      expect(await protocol.effects("started")).toHaveLength(runs);
      // The event is still known, whoever died.
      expect(await protocol.deliver(body)).toEqual({ jobId, replayed: true });
    });
  }
});

describe("a sweep", () => {
  it("whose worker dies before and after it buries what another one left: one dead letter", async () => {
    const protocol = await startProtocol({ retry: { schedule: [] } });
    const { jobId } = await protocol.deliver(body);
    await diedAt(protocol.worker("after:fail"), "after:fail");
    await diedAt(protocol.worker("before:sweep"), "before:sweep");
    expect(await protocol.places(jobId)).toEqual(FAILED);
    await diedAt(protocol.worker("after:sweep"), "after:sweep");
    expect(await protocol.places(jobId)).toEqual(DEAD);
    expect(await protocol.bodyDigest(jobId)).toBe(sha256(body));
    expect(await protocol.effects("started")).toHaveLength(1);
  });

  it("of two at once: each job is buried by one of them", async () => {
    const protocol = await startProtocol();
    const { redis, key, prefix } = protocol;
    const jobs = await Promise.all(
      Array.from({ length: 150 }, async (_, n) => (await protocol.deliver(`{"n":${n}}`)).jobId),
    );
    for (const jobId of jobs) await failForGood(protocol, jobId);
    const other = redis.duplicate();
    await other.ping();
    // However the work falls to the two, and it may fall to one.
    const swept = await Promise.all([sweep(redis, { prefix }), sweep(other, { prefix })]);
    other.disconnect();
    expect(swept.reduce((sum, { buried }) => sum + buried, 0)).toBe(150);
    expect(await redis.zcard(key("failed"))).toBe(0);
    expect((await redis.zrange(key("failed", "webhooks.dead"), 0, "-1")).sort()).toEqual(jobs.sort());
  });
});

/** As a worker leaves a job that dies before it can bury it. */
async function failForGood(
  { redis, key }: Awaited<ReturnType<typeof startProtocol>>,
  jobId: string,
): Promise<void> {
  await redis.lrem(key("wait"), 0, jobId);
  await redis.hset(key(jobId), { finishedOn: Date.now(), failedReason: "boom", atm: 5 });
  await redis.zadd(key("failed"), Date.now(), jobId);
}
