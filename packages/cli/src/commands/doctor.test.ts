import { sharedRedisUrl, startRedis, temporaryFolder, uniquePrefix, waitUntil } from "anvil-testkit";
import { expect, onTestFinished, test } from "vitest";
import type { Finding } from "../doctor/finding.ts";
import { anvil } from "../fixtures/anvil-process.ts";
import { runHere } from "../fixtures/run-here.ts";
import { ask, storeEvent } from "../fixtures/store-event.ts";

const SECRET = "a-secret-of-the-tests";

async function examine(env: Record<string, string>, cwd?: string) {
  const { code, stdout, stderr } = await runHere(["doctor", "--json"], {
    env: { WEBHOOK_SECRET: SECRET, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  expect(stderr).toBe("");
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Finding[] };
  return { code, ok, findings, find: (check: string) => findings.find((finding) => finding.check === check) };
}

test("a Redis as it should be: nothing fails, nothing warns", async () => {
  const redis = await startRedis({ appendonly: true });
  const { code, ok, findings, find } = await examine({ REDIS_URL: redis.url });
  expect({ code, ok }).toEqual({ code: 0, ok: true });
  expect(findings.filter(({ level }) => level !== "ok")).toEqual([]);
  expect(find("persistence")?.message).toContain("everysec");
  const people = await anvil(["doctor"], { env: { REDIS_URL: redis.url, WEBHOOK_SECRET: SECRET } });
  expect(people.stdout).toMatch(/^ok {4}redis +answers at 127\.0\.0\.1:\d+ in [\d.]+ ms$/m);
  expect(people.stdout).toMatch(/No failures, no warnings\.\n$/i);
});

test("eviction and snapshots: which jobs may vanish", async () => {
  const redis = await startRedis({ args: ["--maxmemory-policy", "allkeys-lru", "--save", "900 1 60 1000"] });
  const { code, find } = await examine({ REDIS_URL: redis.url });
  expect(code).toBe(1);
  expect(find("eviction")).toMatchObject({
    level: "fail",
    message: expect.stringContaining("allkeys-lru"),
    action: expect.stringContaining("noeviction"),
  });
  expect(find("persistence")).toMatchObject({ level: "warn", message: expect.stringContaining("15 min") });
});

test("no persistence at all", async () => {
  const redis = await startRedis({ args: ["--save", ""] });
  const { code, find } = await examine({ REDIS_URL: redis.url });
  expect(code).toBe(0);
  expect(find("persistence")).toMatchObject({
    level: "warn",
    message: expect.stringContaining("loses every job"),
  });
});

test("CONFIG denied: INFO tells the policy; INFO denied too: a warning", async () => {
  const redis = await startRedis({ args: ["--maxmemory-policy", "volatile-ttl"] });
  const url = new URL(redis.url);
  await ask(redis.url, async (client) => {
    await client.call("ACL", "SETUSER", "noconfig", "on", ">pw", "~*", "&*", "+@all", "-config");
    await client.call("ACL", "SETUSER", "noinfo", "on", ">pw", "~*", "&*", "+@all", "-config", "-info");
  });
  url.username = "noconfig";
  url.password = "pw";
  const denied = await examine({ REDIS_URL: url.href });
  expect(denied.find("eviction")).toMatchObject({
    level: "fail",
    message: expect.stringContaining("volatile-ttl"),
  });
  url.username = "noinfo";
  const blind = await examine({ REDIS_URL: url.href });
  expect(blind.code).toBe(0);
  for (const check of ["version", "role", "eviction", "persistence"])
    expect(blind.find(check)?.level).toBe("warn");
});

test("a replica takes no writes", async () => {
  const primary = await startRedis();
  const replica = await startRedis({ args: ["--replicaof", "127.0.0.1", String(primary.port)] });
  await waitUntil(
    async () => (await ask(replica.url, (client) => client.info("replication"))).includes("link_status:up"),
    {
      what: "the replica follows",
      timeoutMs: 10_000,
    },
  );
  const { code, find } = await examine({ REDIS_URL: replica.url });
  expect(code).toBe(1);
  expect(find("role")).toMatchObject({
    level: "fail",
    action: expect.stringContaining(`127.0.0.1:${primary.port}`),
  });
});

test("unreachable, or the password is wrong: says so, goes on with the rest, repeats no password", async () => {
  const redis = await startRedis({ args: ["--requirepass", "right"] });
  const gone = await examine({ REDIS_URL: "redis://:hush@127.0.0.1:1" });
  expect(gone.code).toBe(1);
  expect(gone.find("redis")).toMatchObject({
    level: "fail",
    message: expect.stringContaining("ECONNREFUSED"),
  });
  expect(gone.find("source default")?.level).toBe("ok");
  const wrong = await examine({ REDIS_URL: `redis://:hush@127.0.0.1:${redis.port}` });
  expect(wrong.find("redis")).toMatchObject({ level: "fail", action: expect.stringMatching(/password/) });
  const without = await examine({ REDIS_URL: redis.url });
  expect(without.find("redis")).toMatchObject({ level: "fail", action: expect.stringMatching(/password/) });
  const malformed = await examine({ REDIS_URL: "hush.example:6379" });
  expect(malformed.find("redis")).toMatchObject({
    level: "fail",
    message: expect.stringContaining("REDIS_URL"),
  });
  for (const { findings } of [gone, wrong, malformed]) expect(JSON.stringify(findings)).not.toContain("hush");
});

test("secrets: missing, short, never shown", async () => {
  const REDIS_URL = sharedRedisUrl();
  const missing = await examine({ REDIS_URL, WEBHOOK_SECRET: "" });
  expect(missing.code).toBe(1);
  expect(missing.find("source default")).toMatchObject({
    level: "fail",
    message: expect.stringContaining("WEBHOOK_SECRET"),
  });
  const short = await examine({ REDIS_URL, WEBHOOK_SECRET: SECRET, WEBHOOK_SECRET_PREVIOUS: "hushhush" });
  expect(short.code).toBe(0);
  expect(short.find("source default")).toMatchObject({
    level: "warn",
    message: expect.stringContaining("WEBHOOK_SECRET_PREVIOUS is shorter than 16"),
  });
  expect(JSON.stringify(short.findings)).not.toMatch(/hushhush|a-secret/);
  const noFile = await examine({ REDIS_URL, ANVIL_CONFIG: "nowhere.ts" });
  expect(noFile.find("config")).toMatchObject({
    level: "fail",
    message: expect.stringContaining("nowhere.ts"),
  });
});

test("encryption: whether it is on, with the ids of the keys, and never a key", async () => {
  const REDIS_URL = sharedRedisUrl();
  const [key, previous] = [1, 2].map((seed) =>
    Buffer.from(Array.from({ length: 32 }, (_, at) => (seed * 37 + at * 11) % 256)).toString("base64"),
  ) as [string, string];
  expect((await examine({ REDIS_URL })).find("encryption")).toMatchObject({
    ...{ level: "ok", message: expect.stringMatching(/^off: /) },
  });
  const folder = await temporaryFolder("doctor");
  onTestFinished(() => folder.remove());
  const here = (env: Record<string, string>) => examine({ REDIS_URL, ...env }, folder.path);
  const on = await here({ ANVIL_ENCRYPTION_KEY: key, ANVIL_ENCRYPTION_KEY_PREVIOUS: previous });
  expect(on.find("encryption")).toMatchObject({
    level: "ok",
    message: expect.stringMatching(
      /encrypted with key [0-9a-f]{8}; older ones can be read with [0-9a-f]{8}$/,
    ),
  });
  const off = await here({ ANVIL_ENCRYPTION_KEY_PREVIOUS: previous });
  expect(off.find("encryption")?.message).toMatch(/^off for new events; older ones can be read with \w{8}$/);
  const wrong = await here({ ANVIL_ENCRYPTION_KEY: `${key}\n`, ANVIL_ENCRYPTION_KEY_PREVIOUS: "hushhush" });
  expect(wrong.code).toBe(1);
  const said = wrong.findings.filter(({ level }) => level === "fail").map(({ message }) => message);
  expect(said.sort()).toEqual([
    expect.stringContaining("ANVIL_ENCRYPTION_KEY has white space around it"),
    expect.stringContaining("ANVIL_ENCRYPTION_KEY_PREVIOUS is not base64"),
  ]);
  for (const { findings } of [on, off, wrong]) {
    for (const secret of [key, previous, "hushhush"]) expect(JSON.stringify(findings)).not.toContain(secret);
  }
});

test("jobs that wait long, that nobody buried, that are dead", async () => {
  const place = { redis: sharedRedisUrl(), prefix: uniquePrefix() };
  const key = (part: string) => `${place.prefix}:webhooks:${part}`;
  const [old, unburied] = [await storeEvent(place, { n: 1 }), await storeEvent(place, { n: 2 })];
  await ask(place.redis, async (client) => {
    await client.hset(key(old), "timestamp", Date.now() - 3_600_000);
    await client.lrem(key("wait"), 0, unburied);
    await client.zadd(key("failed"), 1, unburied);
    await client.zadd(`${place.prefix}:webhooks.dead:failed`, 1, `wh_${"0".repeat(32)}`);
  });
  const { code, find } = await examine({ REDIS_URL: place.redis, ANVIL_PREFIX: place.prefix });
  expect(code).toBe(0);
  expect(find("queue")).toMatchObject({ level: "warn", message: expect.stringContaining("waited for 1h") });
  expect(find("unburied")).toMatchObject({ level: "warn", message: expect.stringMatching(/^1 /) });
  expect(find("dead letters")).toMatchObject({
    level: "warn",
    action: expect.stringContaining("anvil dead list"),
  });
});
