import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { sharedRedisUrl, startRedis, startRedisTls, startRestFront, uniquePrefix } from "anvil-testkit";
import { Redis } from "ioredis";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Log } from "webhook-anvil";
import { createServer, type ServerOptions } from "webhook-anvil/ingress";
import { SECRET, startChain } from "../chain/chain.ts";

const LIMIT_MS = 3_000;

function ingress(options: ServerOptions) {
  const lines: string[] = [];
  const keep = (fields: object, message: string) => lines.push(JSON.stringify({ message, ...fields }));
  const log: Log = { info: keep, warn: keep, error: keep };
  const app = createServer({ secret: SECRET, log, ...options });
  onTestFinished(() => app.close());
  const deliver = async (body = "{}") => {
    const from = performance.now();
    const signature = createHmac("sha256", SECRET).update(body).digest("hex");
    const headers = { "x-signature": signature };
    const answer = await app.request("/webhooks", { method: "POST", body, headers });
    expect(performance.now() - from).toBeLessThan(LIMIT_MS);
    const said = (await answer.json()) as { replayed?: boolean; error?: { code: string } };
    return { status: answer.status, ...said };
  };
  return { deliver, lines };
}

describe("H-55: Redis by URL", () => {
  const password = "p@ss:w/rd%?#é made-up";

  it("H-55 rediss:// with a user, an awkward password and a database connects, and tells the password to nobody", async () => {
    const { url, plainUrl, ca } = await startRedisTls();
    const client = new Redis(plainUrl);
    onTestFinished(() => client.disconnect());
    await client.call("ACL", "SETUSER", "in@gress", "on", `>${password}`, "~*", "&*", "+@all");
    const address = new URL(url);
    address.username = encodeURIComponent("in@gress");
    address.password = encodeURIComponent(password);
    address.pathname = "/3";
    const { deliver, lines } = ingress({ redis: { url: address.href, tls: { ca } } });
    expect(await deliver()).toMatchObject({ status: 202, replayed: false });
    await client.select(3);
    expect(await client.llen("{anvil}:webhooks:wait")).toBe(1);
    const wrong = new URL(address.href);
    wrong.password = encodeURIComponent(`${password}!`);
    const refused = ingress({ redis: { url: wrong.href, tls: { ca } } });
    expect(await refused.deliver()).toMatchObject({ status: 503 });
    for (const line of [...lines, ...refused.lines]) {
      expect(line).not.toContain("p@ss");
      expect(line).not.toContain(encodeURIComponent(password));
    }
    expect(refused.lines.join()).toMatch(/WRONGPASS|NOAUTH|invalid username-password/);
  });

  it("H-55 a CA that isn't trusted: 503 in time, and the log says that it is the certificate", async () => {
    const { url } = await startRedisTls();
    const { deliver, lines } = ingress({ redis: url });
    expect(await deliver()).toMatchObject({ status: 503, error: { code: "not_stored" } });
    expect(lines.join()).toMatch(/certificate/);
  });

  it("H-55 redis:// to a port that speaks TLS: 503 in time, and the log says that it may want TLS", async () => {
    const { port } = await startRedisTls();
    const { deliver, lines } = ingress({ redis: `redis://127.0.0.1:${port}` });
    expect(await deliver()).toMatchObject({ status: 503, error: { code: "not_stored" } });
    expect(lines.join()).toMatch(/rediss|TLS/);
  });

  it("H-55 rediss:// to a port that doesn't: 503 in time", async () => {
    const { deliver, lines } = ingress({ redis: sharedRedisUrl().replace("redis://", "rediss://") });
    expect(await deliver()).toMatchObject({ status: 503, error: { code: "not_stored" } });
    expect(lines.join()).toMatch(/TLS/i);
  });

  it("H-55 an IPv6 address, in brackets", async () => {
    const redis = await startRedis({ args: ["--bind", "127.0.0.1", "-::1"] });
    const { deliver, lines } = ingress({ redis: `redis://[::1]:${redis.port}/0` });
    const { status } = await deliver();
    // A machine without IPv6 says so, by the address that was meant.
    if (status === 503) expect(lines.join()).toMatch(/::1|EADDRNOTAVAIL|ECONNREFUSED/);
    else expect(status).toBe(202);
  });
});

describe("H-57: a Redis plan with limits, over REST", () => {
  it("H-57 an event is 413 from the size on at which its command is over the cap, and leaves no mark", async () => {
    const prefix = uniquePrefix();
    const front = await startRestFront(sharedRedisUrl());
    const capped = await startCap(front.url, CAP_BYTES);
    const { deliver } = ingress({ upstash: { url: capped.url, token: front.token }, prefix });
    // The script's text goes along the first time.
    expect(await deliver('{"warm":true}')).toMatchObject({ status: 202 });
    // The body's own size says little: a quote takes two bytes in the envelope's JSON and four in the command's.
    // Where that would grow too far it goes as base64, four bytes for three.
    for (const [filler, count] of [
      ["x", CAP_BYTES],
      ['xx"', CAP_BYTES / 6],
      ['"', (CAP_BYTES * 3) / 4],
    ] as const) {
      const before = (await keysUnder(prefix)).length;
      const tooBig = `{"big":"${filler.repeat(count)}"}`;
      expect(await deliver(tooBig)).toMatchObject({ status: 413, error: { code: "body_too_large" } });
      expect(await keysUnder(prefix)).toHaveLength(before);
      expect(capped.largest()).toBeGreaterThan(CAP_BYTES);
      const fits = `{"big":"${filler.repeat(count * 0.99)}"}`;
      expect(await deliver(fits)).toMatchObject({ status: 202, replayed: false });
    }
  });

  for (const [what, status, body] of [
    ["the daily limit", 400, '{"error":"ERR max daily request limit exceeded. Limit: 10000, Usage: 10000"}'],
    ["the monthly limit", 429, '{"error":"ERR max requests limit exceeded. Limit: 500000, Usage: 500000"}'],
    ["429 of a gateway", 429, "slow down"],
    ["500", 500, '{"error":"ERR internal"}'],
    ["503 of a gateway", 503, "<html>unavailable</html>"],
  ] as const) {
    it(`H-57 ${what} is 503 in time and leaves no mark`, async () => {
      const prefix = uniquePrefix();
      const front = await startRestFront(sharedRedisUrl());
      const { deliver } = ingress({ upstash: front, prefix });
      front.fail({ kind: "answer", status, body }, Number.POSITIVE_INFINITY);
      expect(await deliver()).toMatchObject({ status: 503, error: { code: "not_stored" } });
      expect(await keysUnder(prefix)).toEqual([]);
      front.heal();
      expect(await deliver()).toMatchObject({ status: 202, replayed: false });
    });
  }

  it("H-57 an idle worker sends no more commands than docs/run-it.md says", async () => {
    const runIt = await readFile(new URL("../../docs/run-it.md", import.meta.url), "utf8");
    const perMinute = Number(/An idle worker sends (\d+) commands a minute/.exec(runIt)?.[1]);
    const redis = await startRedis();
    const chain = startChain({ url: redis.url });
    await chain.work(() => {});
    await chain.redis.config("RESETSTAT");
    await delay(MEASURED_MS);
    const stats = await chain.redis.info("commandstats");
    const sent = ["bzpopmin", "evalsha", "eval"].map((name) =>
      Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0),
    );
    const total = sent.reduce((sum, calls) => sum + calls, 0);
    // At the edges of so short a time one of each kind may come on top.
    expect(total).toBeLessThanOrEqual(Math.ceil((perMinute * MEASURED_MS) / 60_000) + 4);
    expect(total).toBeGreaterThan(0);
    // Others run inside those scripts; by itself it sends nothing else.
    const others = [...stats.matchAll(/cmdstat_(\S+?):/g)].map(([, name]) => name);
    expect(others).not.toContain("ping");
    expect(others).not.toContain("info");
  });
});

/** A tenth of the cap of the smaller plans: 10 MB, in a command and all of its arguments. */
const CAP_BYTES = 1_000_000;
const MEASURED_MS = 6_000;

/** In front of the REST front: refuses what is over the cap in the words that Upstash uses. */
async function startCap(target: string, capBytes: number) {
  let largest = 0;
  const server = createHttpServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    largest = Math.max(largest, body.length);
    if (body.length > capBytes) {
      const error = `ERR max request size exceeded. Limit: ${capBytes} bytes, Actual: ${body.length} bytes`;
      return void outgoing.writeHead(400).end(JSON.stringify({ error }));
    }
    const { authorization = "", "upstash-encoding": encoding = "" } = incoming.headers;
    const headers = { authorization, "upstash-encoding": String(encoding) };
    const answer = await fetch(target, { method: "POST", body, headers });
    outgoing.writeHead(answer.status).end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, largest: () => largest };
}

async function keysUnder(prefix: string): Promise<string[]> {
  const client = new Redis(sharedRedisUrl());
  const keys = await client.keys(`${prefix}:*`);
  client.disconnect();
  return keys;
}
