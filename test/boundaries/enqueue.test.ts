import { sharedRedisUrl, startTcpProxy, waitUntil } from "anvil-testkit";
import { describe, expect, it, onTestFinished } from "vitest";
import { silentLog } from "webhook-anvil";
import { createServer } from "webhook-anvil/ingress";
import { SECRET, type Stored } from "../chain/chain.ts";
import { diedAt, type Protocol, sha256, signature, startProtocol, WAITING } from "./protocol.ts";

const body = '{"amount":1.0,"text":"é😀"}';

describe("an ingress that dies around its add", () => {
  it("before: nothing is stored, and the redelivery is the first that is", async () => {
    const protocol = await startProtocol();
    const { process, send } = await protocol.ingress("before:add");
    await expect(send(body)).rejects.toThrow();
    await diedAt(process, "before:add");
    expect(await protocol.redis.keys(`${protocol.prefix}:*`)).toEqual([]);
    const { jobId, replayed } = await protocol.deliver(body);
    expect(replayed).toBe(false);
    expect(await protocol.places(jobId)).toEqual(WAITING);
  });

  it("after, with no answer sent: the event is stored once, and the redelivery names it", async () => {
    const protocol = await startProtocol();
    const { process, send } = await protocol.ingress("after:add");
    await expect(send(body)).rejects.toThrow();
    await diedAt(process, "after:add");
    const jobs = await waiting(protocol);
    expect(jobs).toHaveLength(1);
    expect(await protocol.deliver(body)).toEqual({ jobId: jobs[0], replayed: true });
    expect(await protocol.places(jobs[0] as string)).toEqual(WAITING);
    expect(await protocol.bodyDigest(jobs[0] as string)).toBe(sha256(body));
  });
});

describe("an add whose reply is lost", () => {
  it("is asked again inside the same request, and answered as the new event that it is", async () => {
    const { protocol, proxy } = await behindProxy();
    await protocol.deliver('{"warm":true}');
    proxy.swallowReplies();
    const answer = protocol.deliver(body);
    // Redis has applied it, and the ingress doesn't know.
    await waitUntil(async () => (await waiting(protocol)).length === 2, { what: "the add has landed" });
    proxy.heal();
    const { jobId, replayed } = await answer;
    expect(replayed).toBe(false);
    expect(await waiting(protocol)).toHaveLength(2);
    expect(await protocol.places(jobId)).toEqual(WAITING);
  });

  it("for longer than the deadline: 503, and the redelivery names the job that did land", async () => {
    const { protocol, proxy } = await behindProxy();
    await protocol.deliver('{"warm":true}');
    const [warm] = await waiting(protocol);
    proxy.swallowReplies();
    const answer = await send(protocol);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
    const landed = (await waiting(protocol)).filter((jobId) => jobId !== warm);
    expect(landed).toHaveLength(1);
    proxy.heal();
    expect(await protocol.deliver(body)).toEqual({ jobId: landed[0], replayed: true });
    expect(await protocol.places(landed[0] as string)).toEqual(WAITING);
  });
});

describe("an add that is on its way for longer than the deadline", () => {
  it("lands after the 503, once, and the redelivery names it", async () => {
    const { protocol, proxy } = await behindProxy();
    await protocol.deliver('{"warm":true}');
    proxy.holdRequests();
    expect((await send(protocol)).status).toBe(503);
    expect(await waiting(protocol)).toHaveLength(1);
    proxy.release();
    await waitUntil(async () => (await waiting(protocol)).length === 2, { what: "the late add has landed" });
    const again = await protocol.deliver(body);
    expect(again.replayed).toBe(true);
    expect(await waiting(protocol)).toHaveLength(2);
    expect(await protocol.places(again.jobId)).toEqual(WAITING);
  });

  it("lands after the redelivery, and makes no second job", async () => {
    const { protocol, proxy } = await behindProxy();
    await protocol.deliver('{"warm":true}');
    proxy.holdRequests();
    expect((await send(protocol)).status).toBe(503);
    const { jobId, replayed } = await redeliverDirectly(protocol);
    expect(replayed).toBe(false);
    const before = await addsSeen(protocol);
    proxy.release();
    await waitUntil(async () => (await addsSeen(protocol)) > before, { what: "the late add has arrived" });
    expect(await waiting(protocol)).toHaveLength(2);
    expect(await protocol.places(jobId)).toEqual(WAITING);
    expect(await protocol.deliver(body)).toEqual({ jobId, replayed: true });
  });
});

it("a duplicate while the first delivery is still unanswered: one job, and both answers name it", async () => {
  const { protocol, proxy } = await behindProxy();
  await protocol.deliver('{"warm":true}');
  proxy.holdRequests();
  const first = protocol.deliver(body);
  await waitUntil(() => proxy.held() > 0, { what: "the first delivery's add is on its way" });
  const { jobId, replayed } = await redeliverDirectly(protocol);
  expect(replayed).toBe(false);
  proxy.release();
  expect(await first).toEqual({ jobId, replayed: true });
  expect(await protocol.places(jobId)).toEqual(WAITING);
  expect(await waiting(protocol)).toHaveLength(2);
});

/** The ingress of `deliver` reaches Redis through a proxy; what the test itself asks goes directly. */
async function behindProxy() {
  const proxy = await startTcpProxy(Number(new URL(sharedRedisUrl()).port));
  const protocol = await startProtocol({ redis: `redis://127.0.0.1:${proxy.port}` });
  return { proxy, protocol };
}

function waiting({ redis, key }: Protocol): Promise<string[]> {
  return redis.lrange(key("wait"), 0, -1);
}

async function send({ app }: Protocol): Promise<Response> {
  return await app.request("/webhooks", { method: "POST", body, headers: signature(body) });
}

async function redeliverDirectly({ url, prefix }: Protocol): Promise<Stored> {
  const other = createServer({ secret: SECRET, redis: url, prefix, log: silentLog });
  onTestFinished(() => other.close());
  const answer = await other.request("/webhooks", { method: "POST", body, headers: signature(body) });
  return (await answer.json()) as Stored;
}

/** A known event that is added again leaves an event of BullMQ's and nothing else. */
async function addsSeen({ redis, key }: Protocol): Promise<number> {
  const events = await redis.xrange(key("events"), "-", "+");
  return events.filter(([, fields]) => fields.some((field) => /^(debounced|deduplicated)$/.test(field)))
    .length;
}
