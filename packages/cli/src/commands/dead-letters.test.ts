import { writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { sharedRedisUrl, temporaryFolder, uniquePrefix, waitUntil } from "anvil-testkit";
import { expect, onTestFinished, test } from "vitest";
import { bury, jobState } from "webhook-anvil/queue";
import { anvil, startAnvil } from "../fixtures/anvil-process.ts";
import { runHere } from "../fixtures/run-here.ts";
import { ask, storeEvent } from "../fixtures/store-event.ts";

test("send → worker → dead list → dead show → replay → handled, all by command", {
  timeout: 60_000,
}, async () => {
  const folder = await temporaryFolder("flow");
  onTestFinished(() => folder.remove());
  const repaired = join(folder.path, "repaired");
  const place = { redis: sharedRedisUrl(), prefix: uniquePrefix() };
  const env = {
    REDIS_URL: place.redis,
    ANVIL_PREFIX: place.prefix,
    WEBHOOK_SECRET: "a-secret-of-the-tests",
    ANVIL_RETRY_SCHEDULE: "20ms,20ms",
  };
  const ingress = startAnvil(["ingress"], { env: { ...env, PORT: "0", HOST: "127.0.0.1" } });
  const worker = startAnvil(["worker", "--handlers", "packages/cli/src/fixtures/handlers/failing.ts"], {
    env: { ...env, REPAIRED: repaired },
  });
  const port = new URL((await ingress.line(/listening on (http:\/\/[\d.:]+)/))[1] as string).port;

  const empty = await anvil(["dead", "list"], { env });
  expect(empty).toMatchObject({ code: 0, stderr: "" });
  expect(empty.stdout).toMatch(/^No dead letters in queue webhooks: /);

  const sent = await anvil(["send", "--type", "payment.captured"], { env: { ...env, PORT: port } });
  const jobId = /"jobId":"(wh_[0-9a-f]{32})"/.exec(sent.stdout)?.[1] as string;
  await waitUntil(
    async () => (await ask(place.redis, (client) => jobState(client, place, jobId))) === "dead",
    {
      what: "the job is a dead letter",
    },
  );

  const list = await anvil(["dead", "list"], { env });
  expect(list).toMatchObject({ code: 0, stderr: "" });
  const [, row, error] = list.stdout.split("\n");
  expect(row).toMatch(
    new RegExp(`^${jobId} +default/payment\\.captured +exhausted +3 +(just now|\\d+s ago)$`),
  );
  // On one line, and without what would move the cursor.
  expect(error).toBe("  the bank is down and red");
  expect(list.stdout).toContain(`npx anvil dead show ${jobId}\n`);
  expect(list.stdout).toContain(`npx anvil replay ${jobId}\n`);

  const listed = JSON.parse((await anvil(["dead", "list", "--json"], { env })).stdout);
  expect(listed).toMatchObject({
    total: 1,
    limit: 20,
    offset: 0,
    letters: [
      {
        jobId,
        name: "default/payment.captured",
        failureContext: { attempts: 3, reason: "exhausted", replays: 0 },
      },
    ],
  });

  const shown = await anvil(["dead", "show", jobId, "--json"], { env });
  expect(shown.stderr).toBe("");
  const letter = JSON.parse(shown.stdout);
  expect(letter).toMatchObject({
    jobId,
    name: "default/payment.captured",
    failureContext: { attempts: 3 },
    v: 1,
    source: "default",
    type: "payment.captured",
    key: expect.stringMatching(/^[0-9a-f]{64}$/),
    headers: { "content-type": "application/json" },
    encoding: "utf8",
    failures: [],
  });
  expect(JSON.parse(letter.body)).toMatchObject({ type: "payment.captured" });
  expect(letter.stacktrace.at(-1)).toContain("the bank is down");
  const people = await anvil(["dead", "show", jobId], { env });
  expect(people.stdout).toContain("exhausted: every retry of its schedule was used");
  expect(people.stdout).toContain(letter.body);
  expect(people.stdout).not.toContain("\u001b");

  expect(JSON.parse((await anvil(["stats", "--json"], { env })).stdout)).toEqual({
    queue: "webhooks",
    prefix: place.prefix,
    waiting: 0,
    active: 0,
    delayed: 0,
    completed: 0,
    unburied: 0,
    dead: 1,
    oldestWaitingMs: 0,
  });

  await writeFile(repaired, "");
  const replayed = await anvil(["replay", jobId, "--by", "jane", "--reason", "repaired"], { env });
  expect(replayed.code).toBe(0);
  expect(JSON.parse(replayed.stderr)).toMatchObject({
    ...{ level: "info", audit: "replay", jobId, by: "jane", reason: "repaired" },
  });
  expect(replayed.stdout).toMatch(new RegExp(`^Replayed: ${jobId} is back in queue webhooks`));
  await waitUntil(
    async () => (await ask(place.redis, (client) => jobState(client, place, jobId))) === "completed",
    {
      what: "the job is handled",
    },
  );

  const again = await anvil(["replay", jobId, "--json"], { env });
  expect(again.code).toBe(1);
  expect(JSON.parse(again.stdout)).toEqual({ replayed: false, jobId, reason: "done" });
  const gone = await anvil(["dead", "show", jobId, "--json"], { env });
  expect(gone).toEqual({
    code: 1,
    stdout: "",
    stderr: `anvil: ${jobId} is no dead letter: it was handled\n`,
  });

  for (const running of [ingress, worker]) {
    running.signal("SIGTERM");
    expect(await running.exited).toEqual({ code: 0, signal: null });
  }
});

test("replay takes several ids, and says of each what became of it", async () => {
  const place = { redis: sharedRedisUrl(), prefix: uniquePrefix() };
  const env = { REDIS_URL: place.redis };
  const key = (queue: string, part: string) => `${place.prefix}:${queue}:${part}`;
  const ids = [await storeEvent(place, { n: 1 }), await storeEvent(place, { n: 2 })];
  await ask(place.redis, async (client) => {
    for (const jobId of ids) {
      await client.lrem(key("webhooks", "wait"), 0, jobId);
      await client.hset(key("webhooks", jobId), { finishedOn: 1, failedReason: "boom", atm: 1 });
      await client.zadd(key("webhooks", "failed"), 1, jobId);
      await bury(client, place, jobId);
    }
  });
  const unknown = `wh_${"0".repeat(32)}`;
  const done = await runHere(["replay", ...ids, unknown, "--json", "--prefix", place.prefix], { env });
  expect(done.code).toBe(1);
  expect(JSON.parse(done.stdout)).toEqual({
    results: [
      ...ids.map((jobId) => ({ replayed: true, jobId })),
      { replayed: false, jobId: unknown, reason: "not_found" },
    ],
  });
  const [first, second, last, ...more] = done.stderr.trim().split("\n");
  for (const [at, line] of [first, second].entries()) {
    // Without --by it is whoever runs it.
    expect(JSON.parse(line as string)).toMatchObject({
      ...{ audit: "replay", jobId: ids[at], by: userInfo().username },
    });
  }
  expect(last).toMatch(/^anvil: not replayed: /);
  expect(more).toEqual([]);
});

test("an id that isn't dead: where its job is", async () => {
  const place = { redis: sharedRedisUrl(), prefix: uniquePrefix() };
  const env = { REDIS_URL: place.redis };
  const waiting = await storeEvent(place);
  const unknown = `wh_${"0".repeat(32)}`;
  const at = ["--prefix", place.prefix];
  expect(await runHere(["dead", "show", waiting, ...at], { env })).toEqual({
    code: 1,
    stdout: "",
    stderr: `anvil: ${waiting} is no dead letter: it waits for a worker\n`,
  });
  expect((await runHere(["dead", "show", unknown, ...at], { env })).stderr).toMatch(/has no such job/);
  expect(await runHere(["replay", waiting, ...at], { env })).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(
      new RegExp(`^anvil: not replayed: ${waiting} is no dead letter but in the queue`),
    ),
  });
  expect((await runHere(["replay", unknown, ...at], { env })).stderr).toMatch(
    /^anvil: not replayed: .* has no job/,
  );
});

test("pages through a long list; a wide or hostile name doesn't break the table", async () => {
  const place = { redis: sharedRedisUrl(), prefix: uniquePrefix() };
  const key = (queue: string, part: string) => `${place.prefix}:${queue}:${part}`;
  for (let at = 0; at < 3; at++) {
    const jobId = await storeEvent(place, { type: `${"very.long.".repeat(12)}\u202e\u001b[2J型${at}` });
    await ask(place.redis, async (client) => {
      // As a worker leaves it that died between failing a job and burying it.
      await client.lrem(key("webhooks", "wait"), 0, jobId);
      await client.hset(key("webhooks", jobId), {
        finishedOn: Date.now() + at,
        failedReason: "x".repeat(300),
        atm: 1,
      });
      await client.zadd(key("webhooks", "failed"), Date.now() + at, jobId);
      await bury(client, place, jobId);
    });
  }
  const env = { REDIS_URL: place.redis, COLUMNS: "80" };
  const at = ["--prefix", place.prefix];
  const first = await runHere(["dead", "list", "--limit", "2", ...at], { env });
  const table = first.stdout.split("\n\n")[0] as string;
  expect(table.split("\n")).toHaveLength(5);
  for (const line of table.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(table).toContain("…");
  for (const hostile of ["\u001b", "\u202e"]) expect(table).not.toContain(hostile);
  expect(first.stdout).toContain("1 to 2 of 3; --offset 2 has the next ones.");
  expect(first.stdout).toContain(`--prefix '${place.prefix}'`);
  const rest = await runHere(["dead", "list", "--limit", "2", "--offset", "2", "--json", ...at], { env });
  expect(JSON.parse(rest.stdout).letters).toHaveLength(1);
});
