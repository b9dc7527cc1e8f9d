import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { spawnNode, startRedis, temporaryFolder, waitUntil } from "anvil-testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Chain, SECRET, type Stored, startChain } from "./chain.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  folder = await temporaryFolder("processes");
});
afterEach(() => folder.remove());

const effectsFile = () => join(folder.path, "effects");
const effects = async () =>
  (await readFile(effectsFile(), "utf8").catch(() => "")).split("\n").filter(Boolean);

function spawnWorker(chain: Chain, options: object) {
  return spawnNode({
    entry: "test/processes/worker.ts",
    env: {
      REDIS_URL: chain.url,
      PREFIX: chain.prefix,
      EFFECTS: effectsFile(),
      WORKER_OPTIONS: JSON.stringify(options),
    },
  });
}

describe("workers that are killed", () => {
  const quick = { lockMs: 300, stallCheckMs: 200, sweepMs: 100 };

  it("H-44 a job that kills its worker beyond the stall limit becomes one dead letter", async () => {
    const chain = startChain();
    const { jobId } = await chain.deliver('{"kill":true}');
    for (let death = 1; death <= 3; death++) {
      const worker = spawnWorker(chain, { ...quick, maxStalls: 2 });
      expect((await worker.exited).signal).toBe("SIGKILL");
      expect((await effects()).length).toBe(death);
    }
    spawnWorker(chain, { ...quick, maxStalls: 2 });
    const letter = await waitUntil(() => chain.letter(jobId), {
      what: "the job is a dead letter",
      timeoutMs: 15_000,
    });
    expect(letter.failureContext).toMatchObject({ reason: "stalled", replays: 0 });
    expect(letter.data).toMatchObject({ body: '{"kill":true}' });
    expect(await chain.redis.zcard(chain.key("failed", "webhooks.dead"))).toBe(1);
    expect(await effects()).toHaveLength(3);
    expect(await chain.state(jobId)).toBe("dead");
  }, 40_000);

  it("a healthy job survives its worker's death, and the death costs it no attempt", async () => {
    const chain = startChain();
    const { jobId } = await chain.deliver('{"takeMs":60000}');
    const worker = spawnWorker(chain, quick);
    await waitUntil(async () => (await effects()).length === 1, { what: "it runs", timeoutMs: 15_000 });
    await worker.kill("SIGKILL");
    // What was handed over: the same event, quick this time.
    const data = JSON.parse((await chain.redis.hget(chain.key(jobId), "data")) as string);
    await chain.redis.hset(chain.key(jobId), "data", JSON.stringify({ ...data, body: "{}" }));
    spawnWorker(chain, quick);
    await waitUntil(async () => (await chain.state(jobId)) === "completed", {
      what: "it is done",
      timeoutMs: 15_000,
    });
    expect(await effects()).toEqual([`started ${jobId} 1`, `started ${jobId} 1`, `finished ${jobId} 1`]);
  }, 40_000);

  it("H-47 SIGTERM lets a job finish and exits 0", async () => {
    const chain = startChain();
    const { jobId } = await chain.deliver('{"takeMs":700}');
    const worker = spawnWorker(chain, {});
    await waitUntil(async () => (await effects()).length === 1, { what: "it runs", timeoutMs: 15_000 });
    expect(await worker.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    expect(await chain.state(jobId)).toBe("completed");
    expect(await effects()).toEqual([`started ${jobId} 1`, `finished ${jobId} 1`]);
  });

  it("H-47 SIGTERM gives a job back that is longer than the drain limit", async () => {
    const chain = startChain();
    const { jobId } = await chain.deliver('{"takeMs":60000}');
    const worker = spawnWorker(chain, { drainMs: 500 });
    await waitUntil(async () => (await effects()).length === 1, { what: "it runs", timeoutMs: 15_000 });
    expect(await worker.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    expect(await chain.state(jobId)).toBe("waiting");
    const job = await chain.redis.hgetall(chain.key(jobId));
    expect([job.atm, job.stc]).toEqual([undefined, undefined]);
  });
});

describe("ingress processes", () => {
  it("H-33 100 identical deliveries over 4 processes, 50 rounds: one job and one run a round, every answer 202", async () => {
    const redis = await startRedis();
    const chain = startChain({ url: redis.url });
    const processes = Array.from({ length: 4 }, () =>
      spawnNode({
        entry: "test/processes/ingress.ts",
        env: { REDIS_URL: chain.url, PREFIX: chain.prefix, WEBHOOK_SECRET: SECRET },
      }),
    );
    const ports = await Promise.all(
      processes.map(async (each) => (await each.waitForLine(/^port (\d+)$/, { timeoutMs: 20_000 }))[1]),
    );
    for (let round = 0; round < 50; round++) {
      const body = `{"type":"round","n":${round}}`;
      const signature = createHmac("sha256", SECRET).update(body).digest("hex");
      const answers = await Promise.all(
        Array.from({ length: 100 }, async (_, n) => {
          const answer = await fetch(`http://127.0.0.1:${ports[n % 4]}/webhooks`, {
            method: "POST",
            body,
            headers: { "x-signature": signature },
          });
          return { status: answer.status, ...((await answer.json()) as Stored) };
        }),
      );
      expect(answers.filter((answer) => answer.status !== 202)).toEqual([]);
      expect(new Set(answers.map((answer) => answer.jobId)).size).toBe(1);
      expect(answers.filter((answer) => !answer.replayed)).toHaveLength(1);
      expect(await chain.redis.llen(chain.key("wait"))).toBe(round + 1);
    }
    await Promise.all(processes.map((each) => each.kill()));
    const runs: string[] = [];
    const worker = await chain.work((event) => {
      runs.push(event.text);
    });
    await waitUntil(async () => (await chain.redis.zcard(chain.key("completed"))) === 50, {
      what: "all rounds are handled",
    });
    expect(new Set(runs).size).toBe(50);
    expect(runs).toHaveLength(50);
    await worker.close();
  }, 60_000);

  it("H-34 know an event that another process took, also after it was killed", async () => {
    const chain = startChain();
    const spawn = () =>
      spawnNode({
        entry: "test/processes/ingress.ts",
        env: { REDIS_URL: chain.url, PREFIX: chain.prefix, WEBHOOK_SECRET: SECRET },
      });
    const body = '{"known":true}';
    const send = async (port: string | undefined) =>
      (await (
        await fetch(`http://127.0.0.1:${port}/webhooks`, {
          method: "POST",
          body,
          headers: { "x-signature": createHmac("sha256", SECRET).update(body).digest("hex") },
        })
      ).json()) as Stored;
    const first = spawn();
    const { jobId, replayed } = await send((await first.waitForLine(/^port (\d+)$/))[1]);
    expect(replayed).toBe(false);
    await first.kill("SIGKILL");
    const second = spawn();
    expect(await send((await second.waitForLine(/^port (\d+)$/))[1])).toEqual({ jobId, replayed: true });
    expect(await chain.deliver(body)).toEqual({ jobId, replayed: true });
  });
});
