import { createHmac, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startRedis, startTcpProxy, type TcpProxy, type TestRedis, waitUntil } from "anvil-testkit";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type DeployedStage, deployStage } from "./deployed-stage.ts";
import { lambdaImpossible } from "./lambda/runtime-client.ts";
import type { Lambda, LambdaOptions } from "./lambda/start-lambda.ts";
import { madeUpSecrets } from "./made-up-secrets.ts";
import { installSstPlatform } from "./sst-platform.ts";

const missing = (await installSstPlatform()) ?? (await lambdaImpossible());
const because = missing ? ` (skipped: ${missing})` : "";

const DEPLOY_MS = 120_000;
/** The tightest that a common provider waits (Slack). */
const LIMIT_MS = 3_000;

describe.skipIf(missing)(`the deployed ingress under AWS's runtime client${because}`, () => {
  let stage: DeployedStage;
  let redis: TestRedis;
  let client: Redis;
  let proxy: TcpProxy;
  beforeAll(async () => {
    redis = await startRedis();
    client = new Redis(redis.url);
    stage = await deployStage({ redis: "url", secrets: madeUpSecrets });
  }, DEPLOY_MS);
  afterAll(async () => {
    client?.disconnect();
    await redis?.stop();
    await stage?.discard();
  });
  beforeEach(async () => {
    await client.flushall();
    proxy = await startTcpProxy(redis.port);
  });

  const started: Lambda[] = [];
  afterEach(async () => {
    await Promise.all(started.splice(0).map((lambda) => lambda.stop()));
  });

  async function start(options: Partial<LambdaOptions> = {}): Promise<Lambda> {
    const environment = { REDIS_URL: `redis://127.0.0.1:${proxy.port}` };
    const lambda = await stage.start("Ingress", { environment, ...options });
    started.push(lambda);
    return lambda;
  }

  async function deliver({ url }: Lambda, body = JSON.stringify({ id: randomUUID() })) {
    const signature = createHmac("sha256", madeUpSecrets.WebhookSecret ?? "")
      .update(body)
      .digest("hex");
    const sentAt = performance.now();
    const answer = await fetch(`${url}/webhooks`, {
      method: "POST",
      body,
      headers: { "x-signature": signature, "content-type": "application/json" },
    });
    const tookMs = performance.now() - sentAt;
    const { jobId = "" } = (await answer.json()) as { jobId?: string };
    return { status: answer.status, tookMs, jobId, body };
  }

  /** What only a test asks: on a connection of its own, past the proxy. */
  const isStored = async (jobId: string) => (await client.exists(`{anvil}:webhooks:${jobId}`)) === 1;
  const stored = async () => (await client.lrange("{anvil}:webhooks:wait", 0, -1)).length;
  const ingressConnections = async () =>
    String(await client.client("LIST"))
      .split("\n")
      .filter((line) => line.includes("name=anvil-ingress"))
      .map((line) => /\bid=(\d+)/.exec(line)?.[1]);
  const isFrozen = ({ pid }: Lambda) => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));

  it("has no class of BullMQ's and no PostgreSQL in it", () => {
    const folder = stage.zip("Ingress");
    const { sources } = JSON.parse(readFileSync(join(folder, "bundle.mjs.map"), "utf8")) as {
      sources: string[];
    };
    const packages = sources.map((source) => source.slice(source.lastIndexOf("node_modules/") + 13));
    expect(packages.filter((path) => /^(pg|postgres)/.test(path))).toEqual([]);
    const ofBullMq = packages.filter((path) => path.startsWith("bullmq/"));
    expect(ofBullMq).not.toEqual([]);
    expect(ofBullMq.filter((path) => !/^bullmq\/dist\/\w+\/scripts\//.test(path))).toEqual([]);
    expect(readFileSync(join(folder, "bundle.mjs")).length).toBeLessThan(600_000);
  });

  it("H-29 has stored what it answers 202 to, 200 times, each time frozen from the answer on", async () => {
    const lambda = await start();
    const lost: string[] = [];
    for (let n = 0; n < 200; n++) {
      const { status, jobId } = await deliver(lambda);
      expect(status).toBe(202);
      if (n % 50 === 0) await waitUntil(() => isFrozen(lambda), { what: "the sandbox is frozen" });
      if (!(await isStored(jobId))) lost.push(jobId);
    }
    expect(lost).toEqual([]);
    expect(await stored()).toBe(200);
  });

  it("H-29 waits for a Redis that takes 800 ms before it answers", async () => {
    const lambda = await start();
    await deliver(lambda);
    proxy.roundTrip(800);
    for (let n = 0; n < 3; n++) {
      const { status, jobId, tookMs } = await deliver(lambda);
      expect(status).toBe(202);
      expect(await isStored(jobId)).toBe(true);
      expect(tookMs).toBeGreaterThan(790);
    }
  });

  it("H-30 leaves nothing running after the answer, and keeps to one connection", async () => {
    const preload = fileURLToPath(new URL("lambda/active-resources.js", import.meta.url));
    const lambda = await start({ freezesBetweenEvents: false, preload });
    await deliver(lambda);
    const connections = await ingressConnections();
    expect(connections).toHaveLength(1);
    for (let n = 0; n < 30; n++) expect((await deliver(lambda)).tookMs).toBeLessThan(500);
    expect(await ingressConnections()).toEqual(connections);
    expect(proxy.accepted()).toBe(1);

    process.kill(lambda.pid, "SIGUSR2");
    const [, resources = ""] = await waitUntil(() => /^active resources: (.*)$/m.exec(lambda.log()), {
      what: "the function says what is active",
    });
    // Its output, the socket to Redis, and the runtime client's to Lambda. No timer, no request.
    expect(JSON.parse(resources)).toContain("TCPSocketWrap");
    expect(
      JSON.parse(resources).filter((name: string) => !/^(Pipe|TCPSocket|Signal)Wrap$/.test(name)),
    ).toEqual([]);
  });

  describe.each([
    ["is cut by an RST", () => proxy.cut()],
    ["is ended by Redis", () => client.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")],
    ["vanishes silently", () => proxy.blackHole()],
  ])("while it is frozen and its connection %s", (_, breakIt) => {
    it("H-31 takes the next event in time, once", async () => {
      const lambda = await start();
      expect((await deliver(lambda)).status).toBe(202);
      await waitUntil(() => isFrozen(lambda), { what: "the sandbox is frozen" });
      await breakIt();
      await waitUntil(async () => proxy.connections() === 0 || (await ingressConnections()).length === 0, {
        what: "the connection is no use any more",
      });

      const first = await deliver(lambda);
      expect(first.tookMs).toBeLessThan(LIMIT_MS);
      expect([202, 503]).toContain(first.status);
      const last = first.status === 202 ? first : await deliver(lambda, first.body);
      expect(last.status).toBe(202);
      expect(last.tookMs).toBeLessThan(LIMIT_MS);

      expect(await isStored(last.jobId)).toBe(true);
      expect(await stored()).toBe(2);
      expect(lambda.log()).not.toMatch(/unhandled|uncaught/i);
    });
  });

  it("answers in time from a cold start, 600 ms away from Redis", async () => {
    proxy.roundTrip(600);
    const beganAt = performance.now();
    const lambda = await start();
    const { status, jobId } = await deliver(lambda);
    expect(performance.now() - beganAt).toBeLessThan(LIMIT_MS);
    expect(status).toBe(202);
    expect(await isStored(jobId)).toBe(true);
  });

  it("hands over bodies that the function URL has turned into base64, and refuses what Lambda refuses", async () => {
    const lambda = await start();
    const send = async (body: Uint8Array<ArrayBuffer>, contentType: string) => {
      const signature = createHmac("sha256", madeUpSecrets.WebhookSecret ?? "")
        .update(body)
        .digest("hex");
      const headers = { "x-signature": signature, "content-type": contentType, cookie: "a=b; c=d" };
      return await fetch(`${lambda.url}/webhooks`, { method: "POST", body, headers });
    };
    for (const contentType of ["application/x-www-form-urlencoded", "application/octet-stream"]) {
      const answer = await send(new TextEncoder().encode(`a=${randomUUID()}&b=%00`), contentType);
      expect(answer.status).toBe(202);
      const { jobId } = (await answer.json()) as { jobId: string };
      expect(await isStored(jobId)).toBe(true);
    }
    expect((await send(new Uint8Array([0xff, 0xfe, 0]), "application/json")).status).toBe(202);
    expect((await send(new Uint8Array(5_000_000), "application/octet-stream")).status).toBe(413);
  });
});
