import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type Chain, type Stored, startChain } from "../chain/chain.ts";

/**
 * Ids that providers choose, of shapes that BullMQ refuses as job ids, reads as automatic, or keeps for itself. They
 * identify events; a job's id is always ours.
 */
const SECRET = "whsec_made_up_of_the_tests";
const sources = {
  stripe: { provider: "stripe", secret: SECRET },
  github: { provider: "github", secret: SECRET },
} as const;

const numeric = ["123", "0", "-5", "00123", "1e3", " 123", "9007199254740993", "9007199254740992"];
const awkward = [
  ...["a:b", "a-b", "a::b", "a:b:c", "0:a", "stripe:evt_1", "https://shop.example/hooks?id=7#x"],
  ...["{x}", "{x", "with spaces", "😀", "e\u0301", "\u00e9", "x".repeat(5_000), "\u0000", "line\nbreak", '"'],
  // Names of BullMQ's own keys.
  ...["wait", "active", "events", "id", "meta", "failed", "marker", "de:1", "__proto__"],
];

describe.each([
  ["H-40 ids that are numbers", numeric],
  ["H-41 ids with colons, URLs, braces, emoji, 5 kB, and BullMQ's own names", awkward],
])("%s", (name, ids) => {
  it(`${name}: each is a job of its own, and its redelivery names it`, async () => {
    const chain = startChain({ sources });
    const first = new Map<string, string>();
    for (const id of ids) {
      const { jobId, replayed } = await stripe(chain, JSON.stringify({ id }), 0);
      expect(replayed, JSON.stringify(id)).toBe(false);
      first.set(id, jobId);
    }
    expect(new Set(first.values()).size).toBe(ids.length);
    // Signed anew a second later, as Stripe does: the id alone tells.
    for (const id of ids) {
      expect(await stripe(chain, JSON.stringify({ id }), 1)).toEqual({
        jobId: first.get(id),
        replayed: true,
      });
    }
    const handled: (string | undefined)[] = [];
    const worker = await chain.work((event) => {
      handled.push(event.eventId);
    });
    for (const jobId of first.values()) await expect.poll(() => chain.state(jobId)).toBe("completed");
    expect(handled.sort()).toEqual([...ids].sort());
    await worker.close();
  });
});

it("H-40 an id that is no text in the JSON, or an empty one, never makes one event of two", async () => {
  const chain = startChain({ sources });
  const bodies = [
    ...['{"id":123}', '{"id":123,"n":1}', '{"id":0}', '{"id":null}', '{"id":""}', '{"id":"","n":1}'],
    ...['{"id":{}}', '{"id":[]}', '{"id":9007199254740993}', '{"id":9007199254740992}'],
  ];
  const jobs = new Set<string>();
  for (const body of bodies) {
    const { jobId, replayed } = await stripe(chain, body, 0);
    expect(replayed, body).toBe(false);
    jobs.add(jobId);
  }
  expect(jobs.size).toBe(bodies.length);
});

it("H-41 the same id from two sources is two events, and a header may carry any of them", async () => {
  const chain = startChain({ sources });
  const fromStripe = await stripe(chain, '{"id":"a:b"}', 0);
  const ids = ["a:b", "123", "0", "meta", "{x}"];
  const jobs = new Set([fromStripe.jobId]);
  for (const id of ids) {
    const { jobId, replayed } = await github(chain, id);
    expect(replayed, id).toBe(false);
    jobs.add(jobId);
    expect(await github(chain, id)).toEqual({ jobId, replayed: true });
  }
  expect(jobs.size).toBe(ids.length + 1);
});

async function stripe(chain: Chain, body: string, secondsLater: number): Promise<Stored> {
  const t = Math.floor(Date.now() / 1_000) + secondsLater;
  const digest = createHmac("sha256", SECRET).update(`${t}.${body}`).digest("hex");
  return await stored(chain, "stripe", body, { "stripe-signature": `t=${t},v1=${digest}` });
}

async function github(chain: Chain, delivery: string): Promise<Stored> {
  const digest = createHmac("sha256", SECRET).update("{}").digest("hex");
  return await stored(chain, "github", "{}", {
    "x-hub-signature-256": `sha256=${digest}`,
    "x-github-delivery": delivery,
    "x-github-event": "push",
  });
}

async function stored(chain: Chain, source: string, body: string, headers: Record<string, string>) {
  const answer = await chain.app.request(`/webhooks/${source}`, { method: "POST", body, headers });
  expect(answer.status).toBe(202);
  return (await answer.json()) as Stored;
}
