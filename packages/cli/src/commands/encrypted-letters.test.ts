import { randomBytes } from "node:crypto";
import { sharedRedisUrl, temporaryFolder, uniquePrefix } from "anvil-testkit";
import { expect, onTestFinished, test } from "vitest";
import { bury, resolveEncryption, unbury } from "webhook-anvil/queue";
import { runHere } from "../fixtures/run-here.ts";
import { ask, storeEvent, type TestPlace } from "../fixtures/store-event.ts";

const key = randomBytes(32).toString("base64");
const another = randomBytes(32).toString("base64");
const keyId = resolveEncryption({ key }, {}, [])?.keyId as string;

/** A dead letter with an encrypted body, that was replayed once. */
async function deadLetter(place: TestPlace): Promise<string> {
  const jobId = await storeEvent(place, { card: "made-up-card" }, [], { key });
  const main = (part: string) => `${place.prefix}:webhooks:${part}`;
  const fail = (client: Parameters<Parameters<typeof ask>[1]>[0]) =>
    client
      .multi()
      .lrem(main("wait"), 0, jobId)
      .hset(main(jobId), { finishedOn: 1, failedReason: "boom", atm: 1 })
      .zadd(main("failed"), 1, jobId)
      .exec();
  await ask(place.redis, async (client) => {
    await fail(client);
    await bury(client, place, jobId);
    await unbury(client, place, jobId, "made-up-token", {
      ...{ at: 1_760_000_000_000, by: "jane", reason: "the bank\u202e is back" },
    });
    await fail(client);
    await bury(client, place, jobId);
  });
  return jobId;
}

async function shown(env: Record<string, string>) {
  const folder = await temporaryFolder("letters");
  onTestFinished(() => folder.remove());
  const place = { redis: sharedRedisUrl(), prefix: uniquePrefix() };
  const jobId = await deadLetter(place);
  const options = { env: { REDIS_URL: place.redis, ANVIL_PREFIX: place.prefix, ...env }, cwd: folder.path };
  const people = await runHere(["dead", "show", jobId], options);
  const programs = await runHere(["dead", "show", jobId, "--json"], options);
  expect([people.code, people.stderr, programs.code, programs.stderr]).toEqual([0, "", 0, ""]);
  return { people: people.stdout, json: JSON.parse(programs.stdout) as Record<string, unknown> };
}

test("dead show opens an encrypted body with the key, current or previous", async () => {
  for (const env of [
    { ANVIL_ENCRYPTION_KEY: key },
    { ANVIL_ENCRYPTION_KEY: another, ANVIL_ENCRYPTION_KEY_PREVIOUS: key },
  ]) {
    const { people, json } = await shown(env);
    expect(people).toContain(`Body, 23 bytes, encrypted with key ${keyId}\n  {"card":"made-up-card"}\n`);
    expect(json).toMatchObject({
      ...{ body: '{"card":"made-up-card"}', encoding: "utf8", encrypted: true, keyId },
    });
  }
});

test("without the key it names it, and the setting that would show the body", async () => {
  for (const env of [{}, { ANVIL_ENCRYPTION_KEY: another }, { ANVIL_ENCRYPTION_KEY: "hushhush" }]) {
    const { people, json } = await shown(env as Record<string, string>);
    expect(people).toMatch(
      new RegExp(`Body, encrypted with key ${keyId}\\n  Set that key as encryption\\.key`),
    );
    expect(json).toMatchObject({ encoding: "aes-256-gcm", encrypted: true, keyId });
    expect(people + JSON.stringify(json)).not.toMatch(/made-up-card|hushhush/);
    expect(people.includes("ANVIL_ENCRYPTION_KEY is not base64 of 32 random bytes")).toBe(
      "ANVIL_ENCRYPTION_KEY" in env && env.ANVIL_ENCRYPTION_KEY === "hushhush",
    );
  }
});

test("tells who replayed it before, and why", async () => {
  const { people, json } = await shown({});
  expect(people).toContain(
    "  1970-01-01T00:00:00.001Z  exhausted after 1 runs: boom\n" +
      "  2025-10-09T08:53:20.000Z  replayed by jane: the bank\\u{202e} is back\n",
  );
  expect(json.failures).toMatchObject([{ replayed: { at: 1_760_000_000_000, by: "jane" } }]);
});
