import { startRedis, startTcpProxy, type TestRedis } from "anvil-testkit";
import { describe, expect, it } from "vitest";
import { look, nothingWrong, startTrouble, type Trouble } from "./stream.ts";

const EVENTS = 1_000;

/** @returns the id that each event was told */
async function deliverAll(trouble: Trouble): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  const queue = Array.from({ length: EVENTS }, (_, n) => `event-${n}`);
  const sender = async () => {
    for (let event = queue.pop(); event !== undefined; event = queue.pop()) {
      ids.set(event, String((await trouble.accept(event)).jobId));
    }
  };
  await Promise.all(Array.from({ length: 50 }, sender));
  return ids;
}

async function crash(redis: TestRedis): Promise<void> {
  await redis.kill();
  await redis.restart();
}

describe("H-53: Redis is killed with 1,000 accepted events that nobody has handled", () => {
  it("with appendonly, everysec: none is lost, and redeliveries name the same jobs", async () => {
    const redis = await startRedis({ appendonly: true, args: ["--appendfsync", "everysec"] });
    const trouble = startTrouble(redis.url);
    const before = await deliverAll(trouble);
    await crash(redis);
    const ledger = look(redis.url);
    expect(await trouble.balance(ledger)).toMatchObject({
      accepted: EVENTS,
      waiting: EVENTS,
      ...nothingWrong,
    });
    expect(await deliverAll(trouble)).toEqual(before);
    expect(await trouble.balance(ledger)).toMatchObject({
      duplicates: EVENTS,
      waiting: EVENTS,
      ...nothingWrong,
    });
  });

  it("without persistence all is lost together: no deduplication key outlives its job, so redeliveries are new", async () => {
    const redis = await startRedis();
    const first = startTrouble(redis.url);
    const before = await deliverAll(first);
    await crash(redis);
    const ledger = look(redis.url);
    expect(await ledger.dbsize()).toBe(0);
    // Its books begin here: what was lost before is known, and is what the documentation says of such a Redis.
    const trouble = startTrouble(redis.url, { prefix: first.prefix });
    const after = await deliverAll(trouble);
    const told = new Set(before.values());
    expect([...after.values()].filter((id) => told.has(id))).toEqual([]);
    expect(await trouble.balance(ledger)).toMatchObject({
      accepted: EVENTS,
      duplicates: 0,
      waiting: EVENTS,
      ...nothingWrong,
    });
  });
});

it("H-53: a Redis that is merely slow is ready, and takes events", async () => {
  const redis = await startRedis();
  const proxy = await startTcpProxy(redis.port);
  const trouble = startTrouble(`redis://127.0.0.1:${proxy.port}`);
  proxy.roundTrip(600);
  for (let round = 0; round < 2; round++) expect((await trouble.app.request("/readyz")).status).toBe(200);
  expect((await trouble.deliver("slow")).status).toBe(202);
  proxy.cut();
  expect((await trouble.app.request("/readyz")).status).toBe(200);
});
