import { Redis } from "ioredis";

export interface KeySnapshot {
  type: string;
  value: unknown;
}

/**
 * Every key under the prefix with all it holds, by name, to compare what was with what is.
 * Unordered types come sorted; bytes that are not UTF-8 come as `base64:…`. Expiry times are left out: they
 * differ from one look to the next.
 */
export async function snapshotKeys(url: string, prefix: string): Promise<Record<string, KeySnapshot>> {
  const redis = new Redis(url, { connectionName: "anvil-testkit-snapshot", maxRetriesPerRequest: 1 });
  try {
    const snapshot: [string, KeySnapshot][] = [];
    for (const key of await keysUnder(redis, prefix)) {
      const type = await redis.type(key);
      // Gone since it was listed.
      if (type !== "none") snapshot.push([key, { type, value: await read(redis, key, type) }]);
    }
    return Object.fromEntries(snapshot.sort(([a], [b]) => (a < b ? -1 : 1)));
  } finally {
    redis.disconnect();
  }
}

async function keysUnder(redis: Redis, prefix: string): Promise<Set<string>> {
  const pattern = `${prefix.replace(/[\\*?[\]]/g, "\\$&")}*`;
  const keys = new Set<string>();
  let cursor = "0";
  do {
    const [next, found] = await redis.scan(cursor, "MATCH", pattern, "COUNT", 1_000);
    for (const key of found) keys.add(key);
    cursor = next;
  } while (cursor !== "0");
  return keys;
}

async function read(redis: Redis, key: string, type: string): Promise<unknown> {
  switch (type) {
    case "string":
      return text(await redis.getBuffer(key));
    case "hash": {
      const fields = Object.entries(await redis.hgetallBuffer(key));
      return Object.fromEntries(fields.map(([field, value]) => [field, text(value)]).sort(byFirst));
    }
    case "list":
      return (await redis.lrangeBuffer(key, 0, -1)).map(text);
    case "set":
      return (await redis.smembersBuffer(key)).map(text).sort();
    case "zset": {
      const flat = (await redis.zrangeBuffer(key, 0, "-1", "WITHSCORES")).map(text);
      return flat.flatMap((member, at) => (at % 2 === 0 ? [{ member, score: Number(flat[at + 1]) }] : []));
    }
    case "stream":
      return await redis.xrange(key, "-", "+");
    default:
      throw new Error(`snapshotKeys cannot read a key of type ${type}; teach it to.`);
  }
}

function byFirst([a]: readonly (string | null)[], [b]: readonly (string | null)[]): number {
  return String(a) < String(b) ? -1 : 1;
}

function text(bytes: Buffer | null): string | null {
  if (bytes === null) return null;
  const decoded = bytes.toString("utf8");
  return Buffer.from(decoded, "utf8").equals(bytes) ? decoded : `base64:${bytes.toString("base64")}`;
}
