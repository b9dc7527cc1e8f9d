import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { startRedis, waitUntil } from "anvil-testkit";
import type { Redis } from "ioredis";
import { describe, expect, it } from "vitest";
import { type EncryptionConfig, silentLog } from "webhook-anvil";
import { replayDeadLetter } from "webhook-anvil/replay";
import { type Chain, startChain } from "../chain/chain.ts";

const MARKER = "made-up-card-4111";
const newKey = () => randomBytes(32).toString("base64");

/** Every way in which a marker may lie somewhere: as it is, or in base64 from any of its three beginnings. */
function forms(marker: string): string[] {
  const inBase64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), Buffer.from(marker)])
      .toString("base64")
      .slice(shift === 0 ? 0 : shift + 1, -4),
  );
  return [marker, ...inBase64, Buffer.from(marker).toString("hex")];
}

/** Where in Redis the marker is: keys, fields and values as its own DUMP has them, streams and scripts' effects too. */
async function keysWith(redis: Redis, marker: string): Promise<string[]> {
  const found: string[] = [];
  for (const key of await redis.keys("*")) {
    const type = await redis.type(key);
    const value =
      type === "hash"
        ? await redis.hgetall(key)
        : type === "stream"
          ? await redis.xrange(key, "-", "+")
          : type === "list"
            ? await redis.lrange(key, 0, -1)
            : type === "zset"
              ? await redis.zrange(key, 0, "-1")
              : type === "set"
                ? await redis.smembers(key)
                : await redis.get(key);
    const text = key + JSON.stringify(value);
    if (forms(marker).some((form) => text.includes(form))) found.push(key);
  }
  return found;
}

/** Which of the files of Redis hold the marker. */
async function filesWith(folder: string, marker: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = await readFile(join(entry.parentPath, entry.name));
    if (forms(marker).some((form) => bytes.includes(form))) found.push(entry.name);
  }
  return found;
}

const dead = (chain: Chain, jobId: string) =>
  waitUntil(() => chain.letter(jobId), { what: `${jobId} is a dead letter` });

/** One event that is done, one that was buried, replayed and buried again; both with the marker in body and step. */
async function live(encryption: EncryptionConfig | undefined) {
  // No compression, which would hide the marker from the search in a dump; the AOF is written at once.
  const server = await startRedis({
    appendonly: true,
    args: ["--rdbcompression", "no", "--aof-use-rdb-preamble", "no", "--appendfsync", "always"],
  });
  const setting = encryption === undefined ? {} : { encryption };
  const chain = startChain({ url: server.url, retry: { schedule: [20] }, ...setting });
  const seen: string[] = [];
  await chain.work(
    async (event, { step }) => {
      seen.push(event.text);
      await step("look up", () => ({ card: MARKER, of: event.text }));
      // JSON.parse's own error would quote the text, and end in Redis.
      event.json();
    },
    { ...setting, sweepMs: 100 },
  );
  const done = await chain.deliver(`{"card":"${MARKER}"}`);
  const fails = await chain.deliver(`fails ${MARKER} \xff\u0000`);
  await waitUntil(async () => (await chain.state(done.jobId)) === "completed", { what: "one is done" });
  await dead(chain, fails.jobId);
  const place = { redis: server.url, prefix: chain.prefix, log: silentLog };
  expect(await replayDeadLetter(fails.jobId, { ...place, by: "jane" })).toMatchObject({ replayed: true });
  const again = await waitUntil(
    async () => {
      const letter = await chain.letter(fails.jobId);
      return letter?.failureContext.replays === 1 ? letter : undefined;
    },
    { what: "it failed again" },
  );
  expect(again.failures).toMatchObject([{ lastError: "The body is no JSON", replayed: { by: "jane" } }]);
  expect(seen.filter((text) => text.includes(MARKER))).toHaveLength(5);
  await chain.redis.save();
  const [, folder] = (await chain.redis.config("GET", "dir")) as [string, string];
  return {
    keys: await keysWith(chain.redis, MARKER),
    files: (await filesWith(folder, MARKER)).map((name) => name.replace(/.*\.(?=rdb|aof)/, "")).sort(),
    all: (await readdir(folder, { recursive: true })).join(" "),
  };
}

describe("a body and what was made of it", { timeout: 30_000 }, () => {
  it("lie nowhere in Redis, its dump or its log when encryption is on", async () => {
    const { keys, files, all } = await live({ key: newKey() });
    expect(all).toMatch(/dump\.rdb/);
    expect(all).toMatch(/\.aof/);
    expect({ keys, files }).toEqual({ keys: [], files: [] });
  });

  it("lie in all of them when it is off, so the search above finds what there is", async () => {
    const { keys, files } = await live(undefined);
    expect(keys.length).toBeGreaterThanOrEqual(2);
    expect(files).toEqual(["aof", "rdb"]);
  });
});
