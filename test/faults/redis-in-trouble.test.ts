import { createHmac } from "node:crypto";
import { freePort } from "anvil-bootstrap/free-port";
import { type Accountant, keepBooks, startRedis, type TestRedis, waitUntil } from "anvil-testkit";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "webhook-anvil";
import { createServer, type Server } from "webhook-anvil/ingress";

/**
 * Whatever Redis does, every delivery has its answer inside the deadline: 202 only when it is stored, else 503
 * with Retry-After; /readyz turns red and /healthz stays green; and it all comes back by itself.
 */
const SECRET = "made-up-secret-of-the-tests";
/** The tightest that a common provider waits (Slack). The ingress's own deadline is 2 s. */
const LIMIT_MS = 3_000;

let server: Server | undefined;
/** Every answer of a test, to be held against Redis when it is back. */
let books: Accountant;
beforeEach(() => {
  books = keepBooks();
});
afterEach(async () => {
  await server?.close();
  server = undefined;
});

let sent = 0;
function ingress(url: string): Server {
  server = createServer({ secret: SECRET, redis: url, log: silentLog });
  return server;
}

async function deliver(app: Server, body = `{"n":${sent++}}`) {
  const started = performance.now();
  const answer = await app.request("/webhooks", {
    method: "POST",
    body,
    headers: { "x-signature": createHmac("sha256", SECRET).update(body).digest("hex") },
  });
  const tookMs = performance.now() - started;
  expect(tookMs, "time to the answer").toBeLessThan(LIMIT_MS);
  const json = (await answer.json()) as { jobId?: string; replayed?: boolean; error?: { code: string } };
  const { jobId, replayed } = json;
  books.record(
    { event: body, body: Buffer.from(body), genuine: true },
    {
      status: answer.status,
      tookMs,
      ...(jobId === undefined ? {} : { jobId }),
      ...(replayed === undefined ? {} : { replayed }),
    },
  );
  return { status: answer.status, retryAfter: answer.headers.get("retry-after"), tookMs, ...json };
}

const notStored = { status: 503, retryAfter: "5", error: { code: "not_stored" } };

async function expectRed(app: Server): Promise<void> {
  const started = performance.now();
  expect((await app.request("/readyz")).status).toBe(503);
  expect(performance.now() - started).toBeLessThan(LIMIT_MS);
  expect((await app.request("/healthz")).status).toBe(200);
}

async function expectRecovery(app: Server, redis: TestRedis): Promise<void> {
  const body = `{"recovered":${sent++}}`;
  const answer = await waitUntil(
    async () => {
      const tried = await deliver(app, body);
      return tried.status === 202 ? tried : false;
    },
    { what: "deliveries are answered 202 again", timeoutMs: 10_000 },
  );
  expect((await app.request("/readyz")).status).toBe(200);
  const client = new Redis(redis.url);
  expect(await client.exists(`{anvil}:webhooks:${answer.jobId}`)).toBe(1);
  expect(await books.balance({ redis: client, prefix: "{anvil}" })).toMatchObject({
    lost: [],
    doubled: [],
    altered: [],
    forged: [],
  });
  client.disconnect();
}

async function command(redis: TestRedis, ...words: [string, ...string[]]): Promise<unknown> {
  const client = new Redis(redis.url, {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    return await client.call(...words);
  } finally {
    client.disconnect();
  }
}

describe("Redis in trouble", () => {
  it("isn't there when the ingress starts, and comes up later", async () => {
    const redis = await startRedis();
    await redis.kill();
    const app = ingress(redis.url);
    expect(await deliver(app)).toMatchObject(notStored);
    await expectRed(app);
    await redis.restart();
    await expectRecovery(app, redis);
  });

  it("is killed between two deliveries, and comes back", async () => {
    const redis = await startRedis({ appendonly: true });
    const app = ingress(redis.url);
    expect(await deliver(app)).toMatchObject({ status: 202 });
    await redis.kill();
    expect(await deliver(app)).toMatchObject(notStored);
    await expectRed(app);
    await redis.restart();
    await expectRecovery(app, redis);
  });

  it("hangs (SIGSTOP), for ten deliveries at once too, and goes on", async () => {
    const redis = await startRedis();
    const app = ingress(redis.url);
    expect(await deliver(app)).toMatchObject({ status: 202 });
    await redis.pause();
    const answers = await Promise.all(Array.from({ length: 10 }, () => deliver(app)));
    for (const answer of answers) expect(answer).toMatchObject(notStored);
    await expectRed(app);
    await redis.resume();
    await expectRecovery(app, redis);
  });

  it("hangs before the first connection", async () => {
    const redis = await startRedis();
    await redis.pause();
    const app = ingress(redis.url);
    expect(await deliver(app)).toMatchObject(notStored);
    await redis.resume();
    await expectRecovery(app, redis);
  });

  it("takes what was answered 503 once when it is sent again, although the first try may have landed", async () => {
    const redis = await startRedis();
    const app = ingress(redis.url);
    await deliver(app);
    await redis.pause();
    const body = `{"late":${sent++}}`;
    expect(await deliver(app, body)).toMatchObject(notStored);
    await redis.resume();
    // What was written to the stopped server's socket is executed now.
    const answer = await waitUntil(
      async () => {
        const again = await deliver(app, body);
        return again.status === 202 ? again : false;
      },
      { what: "the redelivery is answered 202", timeoutMs: 10_000 },
    );
    const client = new Redis(redis.url);
    const jobs = await client.keys("{anvil}:webhooks:wh_*");
    client.disconnect();
    expect(jobs).toHaveLength(2);
    expect(jobs).toContain(`{anvil}:webhooks:${answer.jobId}`);
  });

  it("is loading its data", async () => {
    const redis = await startRedis({
      args: ["--enable-debug-command", "yes", "--loading-process-events-interval-bytes", "1024"],
    });
    const app = ingress(redis.url);
    expect(await deliver(app)).toMatchObject({ status: 202 });
    const client = new Redis(redis.url);
    for (let n = 0; n < 300; n++) await client.set(`filler:${n}`, "x".repeat(2_000));
    await client.config("SET", "key-load-delay", "15000");
    const reloaded = client.call("DEBUG", "RELOAD");
    await waitUntil(async () => /LOADING/.test(await command(redis, "PING").then(String, String)), {
      what: "Redis answers LOADING",
      intervalMs: 5,
    });
    const answer = await deliver(app);
    expect(answer).toMatchObject(notStored);
    await expectRed(app);
    await reloaded;
    client.disconnect();
    await expectRecovery(app, redis);
  }, 30_000);

  it("is out of memory", async () => {
    const redis = await startRedis();
    const app = ingress(redis.url);
    expect(await deliver(app)).toMatchObject({ status: 202 });
    await command(redis, "CONFIG", "SET", "maxmemory", "1");
    const body = `{"full":${sent++}}`;
    const answer = await deliver(app, body);
    expect(answer).toMatchObject(notStored);
    expect(answer.tookMs).toBeLessThan(500);
    await expectRed(app);
    await command(redis, "CONFIG", "SET", "maxmemory", "0");
    // No mark was left: the same event, sent again, is new.
    expect(await deliver(app, body)).toMatchObject({ status: 202, replayed: false });
    await expectRecovery(app, redis);
  });

  it("is read-only, as a primary is after a failover", async () => {
    const redis = await startRedis();
    const app = ingress(redis.url);
    expect(await deliver(app)).toMatchObject({ status: 202 });
    const nobody = await freePort();
    await command(redis, "REPLICAOF", "127.0.0.1", String(nobody));
    expect(await deliver(app)).toMatchObject(notStored);
    await expectRed(app);
    await command(redis, "REPLICAOF", "NO", "ONE");
    await expectRecovery(app, redis);
  });

  it("refuses the script alone (ACL), so that nothing is half done", async () => {
    const redis = await startRedis();
    await command(
      redis,
      "ACL",
      "SETUSER",
      "limited",
      "on",
      ">made-up",
      "~*",
      "&*",
      "+@all",
      "-eval",
      "-evalsha",
    );
    const app = ingress(redis.url.replace("redis://", "redis://limited:made-up@"));
    const body = `{"denied":${sent++}}`;
    expect(await deliver(app, body)).toMatchObject(notStored);
    await command(redis, "ACL", "SETUSER", "limited", "+@all");
    expect(await deliver(app, body)).toMatchObject({ status: 202, replayed: false });
  });

  it("wants a password that we don't have", async () => {
    const redis = await startRedis();
    const app = ingress(redis.url);
    expect(await deliver(app)).toMatchObject({ status: 202 });
    await command(redis, "CONFIG", "SET", "requirepass", "made-up");
    await server?.close();
    const answer = await deliver(ingress(redis.url));
    expect(answer).toMatchObject(notStored);
  });

  it("H-32 has no client slots left, and recovers when there are some", async () => {
    const redis = await startRedis();
    const holder = new Redis(redis.url);
    await holder.ping();
    await holder.config("SET", "maxclients", "1");
    const app = ingress(redis.url);
    expect(await deliver(app)).toMatchObject(notStored);
    await holder.config("SET", "maxclients", "100");
    await expectRecovery(app, redis);
    holder.disconnect();
  });

  it("forgets its scripts", async () => {
    const redis = await startRedis();
    const app = ingress(redis.url);
    expect(await deliver(app)).toMatchObject({ status: 202 });
    await command(redis, "SCRIPT", "FLUSH");
    expect(await deliver(app)).toMatchObject({ status: 202 });
  });

  it("cuts the connection (CLIENT KILL): the next delivery is answered 202 all the same", async () => {
    const redis = await startRedis();
    const app = ingress(redis.url);
    expect(await deliver(app)).toMatchObject({ status: 202 });
    for (let n = 0; n < 5; n++) {
      await command(redis, "CLIENT", "KILL", "TYPE", "normal");
      expect(await deliver(app)).toMatchObject({ status: 202, replayed: false });
    }
  });

  it("keeps one connection for any number of deliveries", async () => {
    const redis = await startRedis();
    const app = ingress(redis.url);
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 50 }, () => deliver(app)));
    }
    const clients = String(await command(redis, "CLIENT", "LIST"));
    expect(clients.match(/name=anvil-ingress/g)).toHaveLength(1);
  });
});
