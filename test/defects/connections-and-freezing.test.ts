import { startRedis, startTcpProxy, waitUntil } from "anvil-testkit";
import { Redis } from "ioredis";
import { describe, expect, it } from "vitest";
import { spawnIngress } from "../boundaries/protocol.ts";
import { startChain } from "../chain/chain.ts";

/** A process that is frozen and thawed, as Lambda does it and as a container platform may; and connections. */

describe("H-31: an ingress that was frozen", () => {
  for (const [what, breakIt] of [
    ["is cut by an RST", "cut"],
    ["vanishes silently, as behind a NAT that has forgotten it", "blackHole"],
  ] as const) {
    it(`H-31 takes the next event in time, once, when its connection ${what}`, async () => {
      const redis = await startRedis();
      const proxy = await startTcpProxy(redis.port);
      const { process, send } = await spawnIngress({ REDIS_URL: `redis://127.0.0.1:${proxy.port}` });
      const client = new Redis(redis.url);
      const stored = () => client.keys("{anvil}:webhooks:wh_*");
      expect((await send('{"warm":true}')).status).toBe(202);

      process.signal("SIGSTOP");
      proxy[breakIt]();
      await waitUntil(() => proxy.connections() === 0, { what: "the connection is no use any more" });
      process.signal("SIGCONT");

      const inTime = async () => {
        const from = performance.now();
        const { status } = await send('{"n":1}');
        expect(performance.now() - from).toBeLessThan(3_000);
        return status;
      };
      const first = await inTime();
      expect([202, 503]).toContain(first);
      if (first === 503) expect(await inTime()).toBe(202);
      expect(await stored()).toHaveLength(2);
      expect(process.stderr()).not.toMatch(/unhandled|uncaught|Error/i);
      client.disconnect();
    });
  }
});

describe("H-32: connections", () => {
  it("H-32 one process keeps to the documented number: 1 for an ingress, 2 for a worker, whatever they do", async () => {
    const redis = await startRedis();
    const chain = startChain({ url: redis.url });
    let handled = 0;
    await chain.work(() => {
      handled += 1;
    });
    const connections = async () => {
      const clients = String(await chain.redis.client("LIST"))
        .trim()
        .split("\n");
      const ingress = clients.filter((line) => line.includes("name=anvil-ingress")).length;
      // BullMQ's second one, which blocks until there is work, has a name of BullMQ's. One is this test's.
      return { ingress, worker: clients.length - ingress - 1 };
    };
    await chain.deliver('{"warm":true}');
    await waitUntil(() => handled === 1, { what: "the first event is handled" });
    const before = await connections();
    // 5,000 in the report; a client for each request would show after ten.
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 200 }, (_, n) => chain.deliver(`{"n":${round * 200 + n}}`)));
    }
    await waitUntil(() => handled === 2_001, { what: "all are handled", timeoutMs: 15_000 });
    expect(await connections()).toEqual(before);
    expect(before).toEqual({ ingress: 1, worker: 2 });
  });
});
