import { Redis } from "ioredis";
import { expect, it, onTestFinished } from "vitest";
import { sharedRedisUrl, uniquePrefix } from "./redis.ts";
import { snapshotKeys } from "./snapshot-keys.ts";

it("holds every key under the prefix, of every type, and no other", async () => {
  const prefix = uniquePrefix();
  const redis = new Redis(sharedRedisUrl());
  onTestFinished(() => redis.disconnect());
  await redis.set(`${prefix}:string`, "s");
  await redis.set(`${prefix}:bytes`, Buffer.from([0xff, 0xfe, 0x00, 0x80]));
  await redis.hset(`${prefix}:hash`, { b: "2", a: "1" });
  await redis.rpush(`${prefix}:list`, "x", "y");
  await redis.sadd(`${prefix}:set`, "n", "m");
  await redis.zadd(`${prefix}:zset`, 2, "two", 1.5, "less");
  await redis.xadd(`${prefix}:stream`, "1-1", "field", "value");
  await redis.set(`${uniquePrefix()}:string`, "somebody else's");

  expect(await snapshotKeys(sharedRedisUrl(), prefix)).toEqual({
    [`${prefix}:bytes`]: { type: "string", value: "base64://4AgA==" },
    [`${prefix}:hash`]: { type: "hash", value: { a: "1", b: "2" } },
    [`${prefix}:list`]: { type: "list", value: ["x", "y"] },
    [`${prefix}:set`]: { type: "set", value: ["m", "n"] },
    [`${prefix}:stream`]: { type: "stream", value: [["1-1", ["field", "value"]]] },
    [`${prefix}:string`]: { type: "string", value: "s" },
    [`${prefix}:zset`]: {
      type: "zset",
      value: [
        { member: "less", score: 1.5 },
        { member: "two", score: 2 },
      ],
    },
  });
});

it("takes a prefix for its letters, not for a pattern", async () => {
  const prefix = uniquePrefix();
  const redis = new Redis(sharedRedisUrl());
  onTestFinished(() => redis.disconnect());
  await redis.set(`${prefix}[a]*:1`, "mine");
  await redis.set(`${prefix}a:1`, "not mine");
  expect(Object.keys(await snapshotKeys(sharedRedisUrl(), `${prefix}[a]*`))).toEqual([`${prefix}[a]*:1`]);
});
