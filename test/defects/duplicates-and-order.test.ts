import { createHmac } from "node:crypto";
import { spawnNode, startRedis, waitUntil } from "anvil-testkit";
import { describe, expect, it } from "vitest";
import type { Log } from "webhook-anvil";
import { type Chain, SECRET, type Stored, startChain } from "../chain/chain.ts";
import { functionUrlEvent } from "../ingress/function-url-event.ts";

const done = (chain: Chain, jobId: string) =>
  waitUntil(async () => (await chain.state(jobId)) === "completed", { what: `${jobId} is done` });

it("H-34 the ingress function and the Node ingress agree on what an event is", async () => {
  const redis = await startRedis();
  const chain = startChain({ url: redis.url, prefix: "{anvil}" });
  const [first, second] = ['{"n":1}', '{"n":2}'];
  const { jobId } = await chain.deliver(first);
  const lambda = spawnNode({
    entry: "test/processes/invoke-ingress.ts",
    env: {
      REDIS_URL: redis.url,
      WEBHOOK_SECRET: SECRET,
      EVENTS: JSON.stringify(
        [first, second].map((body) =>
          functionUrlEvent({
            ...{ method: "POST", path: "/webhooks", headers: { "x-signature": signed(body) } },
            // One as text and one as base64: how the host hands it over is no part of the event.
            body: body === first ? Buffer.from(body).toString("base64") : body,
            isBase64Encoded: body === first,
          }),
        ),
      ),
    },
  });
  await lambda.waitForLine(/^all answered$/, { timeoutMs: 15_000 });
  const answers = [...lambda.stdout().matchAll(/^answer (.*)$/gm)].map(
    (match) => JSON.parse(JSON.parse(match[1] as string).body) as Stored,
  );
  expect(answers[0]).toEqual({ jobId, replayed: true });
  expect(answers[1]?.replayed).toBe(false);
  expect(await chain.deliver(second)).toEqual({ jobId: answers[1]?.jobId, replayed: true });
});

it("H-35 an enqueue that is refused is answered 503, leaves no mark, and the redelivery is processed, once", async () => {
  const redis = await startRedis();
  const chain = startChain({
    url: redis.url,
    redis: redis.url.replace("redis://", "redis://ingress:made-up@"),
  });
  const allow = (...rules: string[]) => chain.redis.call("ACL", "SETUSER", "ingress", ...rules);
  await allow("on", ">made-up", "~*", "&*", "+@all", "-eval", "-evalsha");
  const runs: string[] = [];
  await chain.work((event) => {
    runs.push(event.id);
  });
  const refused = await post(chain, "{}");
  expect(refused.status).toBe(503);
  expect(await chain.redis.keys(chain.key("de:*"))).toEqual([]);
  await allow("+@all");
  const { jobId, replayed } = await chain.deliver("{}");
  expect(replayed).toBe(false);
  await done(chain, jobId);
  expect(await chain.deliver("{}")).toEqual({ jobId, replayed: true });
  expect(runs).toEqual([jobId]);
});

it("H-36 an event counts as seen from the start and as done only after its handler succeeded", async () => {
  const chain = startChain({ retry: { schedule: [40, 40, 40] } });
  const attempts: number[] = [];
  const doneMarks: (string | null)[] = [];
  let effects = 0;
  await chain.work(async (event, { attempt }) => {
    attempts.push(attempt);
    doneMarks.push(await chain.redis.zscore(chain.key("completed"), event.id));
    // Delivered again in the middle of it: seen, and no reason to skip what is left.
    expect(await chain.deliver("{}")).toEqual({ jobId: event.id, replayed: true });
    if (attempt < 4) throw new Error("not yet");
    effects += 1;
  });
  const { jobId } = await chain.deliver("{}");
  await done(chain, jobId);
  expect(attempts).toEqual([1, 2, 3, 4]);
  expect(doneMarks).toEqual([null, null, null, null]);
  expect(effects).toBe(1);
});

describe("H-37: GitHub's Redeliver keeps the delivery's GUID", () => {
  const sources = { github: { provider: "github", secret: SECRET } } as const;
  const guid = "72d3162e-cc78-11e3-81ab-4c9367dc0958";
  const deliver = async (chain: Chain) => {
    const answer = await chain.app.request("/webhooks/github", {
      method: "POST",
      body: '{"action":"opened"}',
      headers: {
        "x-hub-signature-256": signed('{"action":"opened"}'),
        "x-github-delivery": guid,
        "x-github-event": "issues",
      },
    });
    const dead = answer.headers.get("x-anvil-dead-letter");
    return { status: answer.status, dead, ...((await answer.json()) as Stored) };
  };

  it("H-37 of an event that is done: a duplicate by name, and no second effect", async () => {
    const chain = startChain({ sources });
    let runs = 0;
    await chain.work(() => {
      runs += 1;
    });
    const { jobId } = await deliver(chain);
    await done(chain, jobId);
    expect(await deliver(chain)).toEqual({ status: 202, dead: null, jobId, replayed: true });
    expect(await chain.redis.llen(chain.key("wait"))).toBe(0);
    expect(runs).toBe(1);
  });

  it("H-37 of a dead letter: the answer and the log say so, and it stays one", async () => {
    const lines: string[] = [];
    const keep = (fields: object, message: string) => lines.push(JSON.stringify({ message, ...fields }));
    const log: Log = { info: keep, warn: keep, error: keep };
    const chain = startChain({ sources, retry: { schedule: [] }, log });
    await chain.work(() => {
      throw new Error("boom");
    });
    const { jobId } = await deliver(chain);
    await waitUntil(() => chain.letter(jobId), { what: "it is a dead letter" });
    lines.length = 0;
    expect(await deliver(chain)).toEqual({ status: 202, dead: "kept", jobId, replayed: true });
    expect(lines.filter((line) => line.includes(jobId) && /dead/.test(line))).not.toEqual([]);
    expect(await chain.state(jobId)).toBe("dead");
  });

  it("H-37 of an event that was answered 503: processed", async () => {
    const redis = await startRedis({ appendonly: true });
    const chain = startChain({ sources, url: redis.url });
    await redis.kill();
    expect((await deliver(chain)).status).toBe(503);
    await redis.restart();
    const again = await waitUntil(
      async () => {
        const answer = await deliver(chain);
        return answer.status === 202 ? answer : false;
      },
      { what: "the redelivery is taken" },
    );
    let runs = 0;
    const worker = await chain.work(() => {
      runs += 1;
    });
    await done(chain, again.jobId);
    expect(runs).toBe(1);
    await worker.close();
  });
});

it("H-38 a duplicate is answered 202 as fast as the first delivery, waiting or done", async () => {
  const chain = startChain();
  const bodies = Array.from({ length: 60 }, (_, n) => `{"n":${n}}`);
  const timed = async () => {
    const times: number[] = [];
    for (const body of bodies) {
      const from = performance.now();
      const answer = await post(chain, body);
      times.push(performance.now() - from);
      expect(answer.status).toBe(202);
    }
    return times.sort((a, b) => a - b)[bodies.length / 2] as number;
  };
  await chain.deliver('{"warm":true}');
  const first = await timed();
  const whileWaiting = await timed();
  await chain.work(() => {});
  await waitUntil(async () => (await chain.redis.zcard(chain.key("completed"))) === bodies.length + 1, {
    what: "all are done",
  });
  const afterCompletion = await timed();
  // Medians, and generous: of the same kind, not one a second slower than the other.
  for (const duplicate of [whileWaiting, afterCompletion]) expect(duplicate).toBeLessThan(first * 4 + 20);
});

describe("H-39: events out of order", () => {
  /** What docs/write-a-handler.md shows in SQL: one step that compares and writes. */
  const writeIfNewer = `
    if tonumber(redis.call('HGET', KEYS[1], 'created') or -1) >= tonumber(ARGV[1]) then return 0 end
    redis.call('HSET', KEYS[1], 'created', ARGV[1], 'state', ARGV[2])
    return 1`;
  type Change = { created: number; state: string };

  for (const [what, order, failing] of [
    ["the newer one arrives first", [266, 265], undefined],
    ["the older one is retried after the newer one has run", [265, 266], 265],
    ["both at once", [265, 266], undefined],
  ] as const) {
    it(`H-39 the reference handler ends in the newer state when ${what}`, async () => {
      const chain = startChain({ retry: { schedule: [200] } });
      const customer = `${chain.prefix}:customer`;
      const seen: { created: number; receivedAt: Date; attempt: number }[] = [];
      await chain.work(
        async (event, { attempt }) => {
          const { created, state } = event.json() as Change;
          seen.push({ created, receivedAt: event.receivedAt, attempt });
          if (created === failing && attempt === 1) throw new Error("the first run fails");
          await chain.redis.eval(writeIfNewer, 1, customer, created, state);
        },
        { concurrency: 4 },
      );
      const deliver = (created: number) =>
        chain.deliver(JSON.stringify({ type: "customer.updated", created, state: `as of ${created}` }));
      const jobs: Stored[] = [];
      if (what === "both at once") jobs.push(...(await Promise.all(order.map(deliver))));
      else for (const created of order) jobs.push(await deliver(created));
      await Promise.all(jobs.map(({ jobId }) => done(chain, jobId)));

      expect(await chain.redis.hgetall(customer)).toEqual({ created: "266", state: "as of 266" });
      if (failing) expect(seen.at(-1)).toMatchObject({ created: 265, attempt: 2 });
      for (const { receivedAt } of seen)
        expect(Math.abs(receivedAt.getTime() - Date.now())).toBeLessThan(15_000);
    });
  }
});

function signed(body: string): string {
  return `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`;
}

async function post(chain: Chain, body: string): Promise<Response> {
  return await chain.app.request("/webhooks", {
    method: "POST",
    body,
    headers: { "x-signature": signed(body) },
  });
}
