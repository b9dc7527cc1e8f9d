import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sharedRedisUrl, startRedis, temporaryFolder, uniquePrefix, waitUntil } from "anvil-testkit";
import { expect, onTestFinished, test } from "vitest";
import { jobState } from "webhook-anvil/queue";
import { startAnvil } from "../fixtures/anvil-process.ts";
import { runHere } from "../fixtures/run-here.ts";
import { ask, storeEvent } from "../fixtures/store-event.ts";

const HANDLERS = "packages/cli/src/fixtures/handlers";

async function holdingWorker(args: string[] = []) {
  const folder = await temporaryFolder("worker");
  onTestFinished(() => folder.remove());
  const release = join(folder.path, "release");
  const place = { redis: sharedRedisUrl(), prefix: uniquePrefix() };
  const jobId = await storeEvent(place);
  const worker = startAnvil(["worker", "--handlers", `${HANDLERS}/holding.ts`, ...args], {
    env: { REDIS_URL: place.redis, ANVIL_PREFIX: place.prefix, RELEASE: release },
  });
  await worker.line(new RegExp(`running ${jobId}`));
  return {
    worker,
    release: () => writeFile(release, ""),
    state: () => ask(place.redis, (client) => jobState(client, place, jobId)),
    attempts: () => ask(place.redis, (client) => client.hget(`${place.prefix}:webhooks:${jobId}`, "atm")),
  };
}

test("asked to stop, it lets the running handler finish", async () => {
  const { worker, release, state } = await holdingWorker();
  worker.signal("SIGTERM");
  await worker.line(/stopping/);
  expect(await state()).toBe("active");
  await release();
  expect(await worker.exited).toEqual({ code: 0, signal: null });
  expect(await state()).toBe("completed");
  expect(worker.stderr()).toBe("");
});

test("a handler that runs longer than --drain is given back, at no cost of an attempt", async () => {
  const { worker, state, attempts } = await holdingWorker(["--drain", "300ms"]);
  worker.signal("SIGTERM");
  expect(await worker.exited).toEqual({ code: 0, signal: null });
  expect(await state()).toBe("waiting");
  expect(Number((await attempts()) ?? 0)).toBe(0);
});

test("a second signal ends it at once", async () => {
  const { worker } = await holdingWorker(["--drain", "1h"]);
  worker.signal("SIGINT");
  await worker.line(/stopping/);
  // The one wait that is no condition: a second key comes later than half a second after the first.
  await delay(700);
  worker.signal("SIGINT");
  expect(await worker.exited).toEqual({ code: 1, signal: null });
  expect(worker.stderr()).toMatch(/^anvil: stopped at once on a second SIGINT[^\n]*\n$/);
});

test("a map in a CommonJS file does; Redis may come later than the worker", async () => {
  const redis = await startRedis();
  const place = { redis: redis.url, prefix: uniquePrefix() };
  await redis.kill();
  const worker = startAnvil(["worker", "--handlers", `${HANDLERS}/common.cts`], {
    env: { REDIS_URL: redis.url, ANVIL_PREFIX: place.prefix },
  });
  await worker.line(/can't be reached/);
  await redis.restart();
  const jobId = await storeEvent(place);
  await waitUntil(
    async () => (await ask(redis.url, (client) => jobState(client, place, jobId))) === "completed",
    {
      what: "the job is handled",
      timeoutMs: 10_000,
    },
  );
  worker.signal("SIGTERM");
  expect(await worker.exited).toEqual({ code: 0, signal: null });
});

test("stops when asked to while it still waits for Redis", async () => {
  const worker = startAnvil(["worker", "--handlers", `${HANDLERS}/common.cts`], {
    env: { REDIS_URL: "redis://127.0.0.1:1" },
  });
  await worker.line(/can't be reached/);
  worker.signal("SIGTERM");
  expect(await worker.exited).toEqual({ code: 0, signal: null });
  expect(worker.stderr()).toBe("");
});

test("a file of handlers that can't be used is named in one sentence, everything wrong at once", async () => {
  const messageOf = async (file: string) => {
    const { code, stderr } = await runHere(["worker", "--handlers", file], {
      env: { REDIS_URL: sharedRedisUrl() },
    });
    expect(code).toBe(1);
    return stderr;
  };
  expect(await messageOf("nowhere.ts")).toMatch(/^anvil: nowhere\.ts doesn't exist in [^\n]+\n$/);
  expect(await messageOf(`${HANDLERS}/no-default.ts`)).toMatch(
    /no-default\.ts has no default export; [^\n]+\n$/,
  );
  expect(await messageOf(`${HANDLERS}/broken.js`)).toMatch(
    /^anvil: [^\n]+broken\.js can't be loaded: the database's address is missing\n$/,
  );
  const wrong = await messageOf(`${HANDLERS}/wrong-map.ts`);
  expect(wrong).toContain('anvil: handlers.stripe["invoice.paid"]: is no function\n');
  expect(wrong).toMatch(/^anvil: handlers\.github: /m);
});
