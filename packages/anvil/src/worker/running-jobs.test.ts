import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type RunningJobs, runningJobs } from "./running-jobs.ts";

const LOCK_MS = 1_000;
const WATCH_MS = LOCK_MS / 4;

describe("runningJobs", () => {
  let running: RunningJobs;
  let lost: string[];
  beforeEach(() => {
    vi.useFakeTimers({
      toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"],
    });
    lost = [];
    running = runningJobs(LOCK_MS, (jobId) => lost.push(jobId));
  });
  afterEach(() => {
    running.close();
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  /** Whether a promise has resolved by now. */
  async function resolved(promise: Promise<void>): Promise<boolean> {
    return Promise.race([promise.then(() => true), Promise.resolve().then(() => false)]);
  }

  it("lets a handler run as long as its lock is renewed", () => {
    const job = running.add("a");
    for (let renewals = 0; renewals < 20; renewals++) {
      vi.advanceTimersByTime(LOCK_MS / 2);
      running.renewed(["a"]);
    }
    expect(job.signal.aborted).toBe(false);
    expect(job.aborted()).toBeUndefined();
    expect(lost).toEqual([]);
  });

  it("stops a handler at once that starts after the stop, as it stops the others", () => {
    running.stop(100);
    const late = running.add("late");
    expect(late.signal.aborted).toBe(true);
    expect(late.aborted()).toBe("draining");
    vi.advanceTimersByTime(100);
  });

  it("takes silence for as long as a lock lasts for a lost lock, and tells it once", () => {
    const job = running.add("a");
    vi.advanceTimersByTime(LOCK_MS);
    expect(job.signal.aborted).toBe(false);
    vi.advanceTimersByTime(WATCH_MS);
    expect(job.signal.aborted).toBe(true);
    expect(job.aborted()).toBe("lock_lost");
    vi.advanceTimersByTime(10 * LOCK_MS);
    expect(lost).toEqual(["a"]);
  });

  it("renews the lock of the jobs named and of no other", () => {
    const [kept, silent] = [running.add("a"), running.add("b")];
    vi.advanceTimersByTime(LOCK_MS / 2);
    running.renewed(["a", "unknown"]);
    vi.advanceTimersByTime(LOCK_MS / 2 + WATCH_MS);
    expect([kept.aborted(), silent.aborted()]).toEqual([undefined, "lock_lost"]);
    expect(lost).toEqual(["b"]);
  });

  it("aborts at once when a renewal fails, with a reason that says so", () => {
    const [job, other] = [running.add("a"), running.add("b")];
    running.lost(["a", "unknown"]);
    expect(job.aborted()).toBe("lock_lost");
    expect(job.signal.reason).toMatchObject({
      name: "AbortError",
      message: "The handler must stop: lock_lost",
    });
    expect(other.aborted()).toBeUndefined();
    expect(lost).toEqual(["a"]);
  });

  it("gives up a handler whose lock is lost: whoever has the lock has the job", async () => {
    const job = running.add("a");
    running.lost(["a"]);
    expect(await resolved(job.givenUp)).toBe(true);
  });

  it("forgets a job that is done", async () => {
    const job = running.add("a");
    job.done();
    vi.advanceTimersByTime(10 * LOCK_MS);
    running.lost(["a"]);
    running.stop(0);
    vi.advanceTimersByTime(1);
    expect(job.signal.aborted).toBe(false);
    expect(await resolved(job.givenUp)).toBe(false);
    expect(lost).toEqual([]);
  });

  it("keeps a job's second run when the first says that it is done", () => {
    const first = running.add("a");
    const second = running.add("a");
    first.done();
    running.lost(["a"]);
    expect([first.aborted(), second.aborted()]).toEqual([undefined, "lock_lost"]);
  });

  it("stops by aborting everything at once, and gives up after the grace what still runs", async () => {
    const [quick, slow] = [running.add("a"), running.add("b")];
    running.stop(200);
    expect([quick.aborted(), slow.aborted()]).toEqual(["draining", "draining"]);
    expect(slow.signal.reason).toMatchObject({
      name: "AbortError",
      message: "The handler must stop: draining",
    });
    quick.done();
    vi.advanceTimersByTime(199);
    expect(await resolved(slow.givenUp)).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await resolved(slow.givenUp)).toBe(true);
    expect(await resolved(quick.givenUp)).toBe(false);
    expect(lost).toEqual([]);
  });

  it("knows a lock that is lost while stopping, since such a job can't be given back", () => {
    const job = running.add("a");
    running.stop(200);
    running.lost(["a"]);
    expect(job.aborted()).toBe("lock_lost");
    expect(lost).toEqual(["a"]);
    vi.advanceTimersByTime(200);
  });

  it("leaves a lost lock a lost lock when it stops", () => {
    const job = running.add("a");
    running.lost(["a"]);
    running.stop(200);
    expect(job.aborted()).toBe("lock_lost");
    vi.advanceTimersByTime(200);
  });

  it("watches no more once it is closed", () => {
    const job = running.add("a");
    running.close();
    vi.advanceTimersByTime(10 * LOCK_MS);
    expect(job.signal.aborted).toBe(false);
  });
});
