import { waitUntil } from "anvil-testkit";
import { describe, expect, it } from "vitest";
import { silentLog } from "webhook-anvil";
import { replayDeadLetter } from "webhook-anvil/replay";
import { type Chain, startChain } from "./chain.ts";

const dead = (chain: Chain, jobId: string) =>
  waitUntil(() => chain.letter(jobId), { what: `${jobId} is a dead letter` });
const done = (chain: Chain, jobId: string) =>
  waitUntil(async () => (await chain.state(jobId)) === "completed", { what: `${jobId} is done` });

describe("steps", () => {
  it("that were stored never run again: through retries, burial and replay", async () => {
    const chain = startChain();
    const charged: number[] = [];
    const mailed: unknown[] = [];
    let mailWorks = false;
    await chain.work(async (_, { attempt, step }) => {
      const receipt = await step("charge", () => {
        charged.push(attempt);
        return { receipt: `r-${attempt}` };
      });
      if (!mailWorks) throw new Error("the mail server is away");
      await step("mail", () => mailed.push(receipt));
    });
    const { jobId } = await chain.deliver("{}");
    await dead(chain, jobId);
    expect(charged).toEqual([1]);
    mailWorks = true;
    await replayDeadLetter(jobId, { redis: chain.url, prefix: chain.prefix, log: silentLog });
    await done(chain, jobId);
    expect(charged).toEqual([1]);
    expect(mailed).toEqual([{ receipt: "r-1" }]);
  });

  it("can't be stored by a worker that has lost its lock, and its signal aborts", async () => {
    const chain = startChain();
    let reached = () => {};
    const inStep = new Promise<void>((resolve) => {
      reached = resolve;
    });
    let go = () => {};
    const gone = new Promise<void>((resolve) => {
      go = resolve;
    });
    let end: { aborted: boolean; error: unknown } | undefined;
    await chain.work(
      async (_, { signal, step }) => {
        try {
          await step("charge", async () => {
            reached();
            await gone;
            return "late";
          });
        } catch (error) {
          end = { aborted: signal.aborted, error };
        }
      },
      { stallCheckMs: 60_000 },
    );
    const { jobId } = await chain.deliver("{}");
    await inStep;
    await chain.redis.set(`${chain.key(jobId)}:lock`, "another worker's");
    const before = await chain.redis.hgetall(chain.key(jobId));
    go();
    const seen = await waitUntil(() => end, { what: "the late step has ended" });
    expect(seen.aborted).toBe(true);
    expect(seen.error).toMatchObject({ name: "AbortError" });
    expect(await chain.redis.hgetall(chain.key(jobId))).toEqual(before);
  });
});
