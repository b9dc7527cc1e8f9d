import { findServerWithWaitaof, startRedis, waitUntil } from "anvil-testkit";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Durability } from "../contract/config.ts";
import { ConfigError } from "../contract/errors.ts";
import { createServer } from "./create-server.ts";
import { clientOf, deliver, durableIngress, keptLog, readiness, SECRET, timely } from "./fixtures.ts";

const newer = await findServerWithWaitaof();
const newerServer = "server" in newer ? { server: newer.server } : undefined;
const withoutNewer = "missing" in newer ? ` (skipped: ${newer.missing})` : "";

describe.skipIf(!newerServer)(`durability "disk"${withoutNewer}`, () => {
  it("answers 202 once the disk has it, within a second for many at once", async () => {
    const redis = await startRedis({ ...newerServer, appendonly: true });
    const app = createServer({ secret: SECRET, redis: redis.url, durability: "disk", log: keptLog() });
    onTestFinished(() => app.close());
    await app.checkDurability();
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => deliver(app, `{"n":${n}}`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    const stats = await clientOf(redis.url).info("commandstats");
    expect(Number(/cmdstat_waitaof:calls=(\d+)/.exec(stats)?.[1])).toBeLessThan(10);
  });

  it("answers 503 by the deadline while nothing is written through to the disk", async () => {
    const redis = await startRedis({ ...newerServer, appendonly: true, args: ["--appendfsync", "no"] });
    const { app, log } = durableIngress(redis.url, "disk");
    expect((await timely(app, "one")).status).toBe(503);
    expect(log.lines.join()).toContain("did not confirm that it is on disk in time");
    await clientOf(redis.url).config("SET", "appendfsync", "always");
    expect(await timely(app, "one")).toMatchObject({ status: 202, body: { replayed: true } });
  });

  it("refuses to start without AOF, and is not ready when it is turned off later", async () => {
    const redis = await startRedis(newerServer);
    const { app, log } = durableIngress(redis.url, "disk");
    await expect(app.checkDurability()).rejects.toThrow(ConfigError);
    await expect(app.checkDurability()).rejects.toThrow(/appendonly is off; CONFIG SET appendonly yes/);
    expect((await timely(app, "one")).status).toBe(503);
    expect(log.lines.join()).toContain("CONFIG SET appendonly yes");
    expect(await readiness(app)).toBe(503);
    await clientOf(redis.url).config("SET", "appendonly", "yes", "appendfsync", "always");
    await waitUntil(async () => (await timely(app, "one")).status === 202, { what: "the AOF is there" });
    expect(await readiness(app)).toBe(200);
  });
});

describe("durability that the server can't give", () => {
  it("refuses to start where there is no such command, and says what to do", async () => {
    // As it is before 7.2 and at some hosts.
    const hidden = newerServer ? { ...newerServer, args: ["--rename-command", "WAITAOF", ""] } : {};
    const redis = await startRedis({ appendonly: true, ...hidden });
    const { app, log } = durableIngress(redis.url, "disk");
    await expect(app.checkDurability()).rejects.toThrow(
      /durability "disk" asks the Redis at 127\.0\.0\.1:\d+, (Redis|Valkey) [\d.]+, for WAITAOF, .*use Redis 7\.2/,
    );
    expect((await timely(app, "one")).status).toBe(503);
    expect(log.lines.join()).toContain("for WAITAOF, which it doesn't have");
    expect(await readiness(app)).toBe(503);
  });

  it("refuses to start where this user may not wait, and repeats no password", async () => {
    const redis = await startRedis({
      args: ["--user", "someone", "on", ">made-up-password", "~*", "&*", "+@all", "-wait"],
    });
    const url = redis.url.replace("redis://", "redis://someone:made-up-password@");
    const { app } = durableIngress(url, "replica");
    const error = await app.checkDurability().catch((thrown: Error) => thrown);
    expect(String(error)).toMatch(/for WAIT, which it refuses \(NOPERM\)/);
    expect(String(error)).not.toContain("made-up");
  });

  it("is not asked of a server that isn't there yet: the start goes on, with a warning", async () => {
    const redis = await startRedis();
    await redis.kill();
    const { app, log } = durableIngress(redis.url, "disk");
    await app.checkDurability();
    expect(log.lines.join()).toContain("durability not checked");
  });

  it("is refused over REST at once", () => {
    const upstash = { url: "https://made-up.example", token: "made-up" };
    const start = (durability: Durability) => createServer({ secret: SECRET, upstash, durability });
    expect(() => start("disk")).toThrow(/durability: "disk" can't be had over REST/);
    expect(() => start("replica")).toThrow(ConfigError);
    expect(() => start("memory")).not.toThrow();
  });
});

describe('durability "memory"', () => {
  it("opens no second connection and waits for nothing", async () => {
    const redis = await startRedis();
    const { app } = durableIngress(redis.url, "memory");
    await app.checkDurability();
    expect((await timely(app, "one")).status).toBe(202);
    const admin = clientOf(redis.url);
    expect(String(await admin.client("LIST"))).not.toContain("anvil-ingress-wait");
    expect(await admin.info("commandstats")).not.toContain("cmdstat_wait");
  });
});
