import type { TestProcess } from "anvil-testkit";
import { waitUntil } from "anvil-testkit";
import { describe, expect, it } from "vitest";
import { ACTIVE, DONE, type Protocol, QUICK, startProtocol } from "./protocol.ts";

/**
 * A worker that is stopped (SIGSTOP) while its handler runs, for longer than its lock: as a machine that swaps, or
 * a container that is frozen. Another worker takes the job; when the first one wakes, it must change nothing.
 */
describe("a worker stopped for longer than its lock", () => {
  it("wakes after another one is done: its completion is not written, and the charge is there once", async () => {
    const protocol = await startProtocol();
    const { jobId } = await protocol.deliver('{"charge":"key","takeMs":700}');
    const stopped = await stopInHandler(protocol, `charged ${jobId}`);
    const next = await protocol.nextWorker();
    await protocol.settled(jobId, "completed");
    const before = await protocol.redis.hgetall(protocol.key(jobId));
    await next.close();
    await wakeUp(protocol, stopped, jobId);
    expect(await protocol.redis.hgetall(protocol.key(jobId))).toEqual(before);
    expect(await protocol.places(jobId)).toEqual(DONE);
    expect(await protocol.effects("charged")).toEqual([`charged ${jobId}`]);
    // Its handler was told.
    expect(await protocol.effects("aborted")).toEqual([`aborted ${jobId} 1`]);
  });

  it("wakes while another one still runs it: the job stays the other's, and ends by its result", async () => {
    const protocol = await startProtocol();
    const { jobId } = await protocol.deliver('{"charge":"key","takeMs":700}');
    const stopped = await stopInHandler(protocol, `charged ${jobId}`);
    const taken = gate();
    const finish = gate();
    await protocol.work(
      async () => {
        taken.open();
        await finish.opened;
      },
      { ...QUICK, concurrency: 1 },
    );
    await taken.opened;
    await wakeUp(protocol, stopped, jobId);
    expect(await protocol.places(jobId)).toEqual(ACTIVE);
    finish.open();
    await protocol.settled(jobId, "completed");
    // No attempt was lost, and none was counted for the one that slept: BullMQ counts when a run ends.
    expect(await protocol.redis.hget(protocol.key(jobId), "atm")).toBe("1");
  });

  it("wakes with a failure: it is not written over the other one's success", async () => {
    const protocol = await startProtocol();
    const { jobId } = await protocol.deliver('{"charge":"key","takeMs":700,"fail":1}');
    const stopped = await stopInHandler(protocol, `charged ${jobId}`);
    const next = await protocol.work(() => {}, QUICK);
    await protocol.settled(jobId, "completed");
    const before = await protocol.redis.hgetall(protocol.key(jobId));
    await next.close();
    await wakeUp(protocol, stopped, jobId);
    expect(await protocol.redis.hgetall(protocol.key(jobId))).toEqual(before);
    expect(before.failedReason).toBeUndefined();
    expect(await protocol.places(jobId)).toEqual(DONE);
  });

  it("wakes in the middle of a step that another one is in too: only who has the lock can store a result", async () => {
    const protocol = await startProtocol();
    const { jobId } = await protocol.deliver('{"charge":"step","stepMs":700}');
    const stopped = await stopInHandler(protocol, `charged ${jobId}`);
    const taken = gate();
    const finish = gate();
    await protocol.work(
      async (_, { step }) => {
        await step("charge", async () => {
          taken.open();
          await finish.opened;
          return "the holder's";
        });
      },
      { ...QUICK, concurrency: 1 },
    );
    await taken.opened;
    await wakeUp(protocol, stopped, jobId);
    expect(await protocol.redis.hexists(protocol.key(jobId), "step:charge")).toBe(0);
    finish.open();
    await protocol.settled(jobId, "completed");
    expect(await protocol.redis.hget(protocol.key(jobId), "step:charge")).toBe(`{"value":"the holder's"}`);
  });

  it("wakes in the middle of a step that another one has ended: its result is not stored over the other one's", async () => {
    const protocol = await startProtocol();
    const { jobId } = await protocol.deliver('{"charge":"step","stepMs":700}');
    const stopped = await stopInHandler(protocol, `charged ${jobId}`);
    const next = await protocol.nextWorker();
    await protocol.settled(jobId, "completed");
    const before = await protocol.redis.hgetall(protocol.key(jobId));
    expect(before["step:charge"]).toBe(`{"value":${process.pid}}`);
    await next.close();
    await wakeUp(protocol, stopped, jobId);
    expect(await protocol.redis.hgetall(protocol.key(jobId))).toEqual(before);
  });
});

/** Something that a handler waits for and the test lets go, or the other way round. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** @returns a worker that is stopped with the handler under way, after it left that line */
async function stopInHandler(protocol: Protocol, line: string): Promise<TestProcess> {
  // One job at a time: a second fetch under way would swallow the signal that wakes the next worker, for up to 5 s.
  const worker = protocol.worker(undefined, { concurrency: 1 });
  await waitUntil(async () => (await protocol.effects(line)).length === 1, {
    what: "the handler has begun",
    timeoutMs: 15_000,
  });
  worker.signal("SIGSTOP");
  return worker;
}

/** Resolves when the worker is awake and has long ended what it was at: it has done another job since. */
async function wakeUp(protocol: Protocol, worker: TestProcess, jobId: string): Promise<void> {
  worker.signal("SIGCONT");
  await waitUntil(async () => (await protocol.effects(`aborted ${jobId}`)).length > 0, {
    what: "its handler's signal has aborted",
    timeoutMs: 10_000,
  });
  const next = await protocol.deliver(`{"after":"${jobId}"}`);
  await protocol.settled(next.jobId, "completed");
}
