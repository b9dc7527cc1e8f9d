import type { Durability } from "../contract/config.ts";
import type { RedisClient } from "./redis-clients.ts";
import { replyCode } from "./reply-code.ts";

/** What an error that answers WAIT or WAITAOF means for whoever runs the server. */
export function cannotWait(durability: Durability, refused: Error, where: string): string {
  const command = durability === "disk" ? "WAITAOF" : "WAIT";
  const asks = `durability "${durability}" asks the Redis at ${where}`;
  if (/unknown command/i.test(refused.message)) {
    const other = durability === "disk" ? 'durability "replica" or "memory"' : 'durability "memory"';
    return `${asks} for ${command}, which it doesn't have; use Redis 7.2 or later, Valkey, or ${other}`;
  }
  if (/appendonly/i.test(refused.message)) {
    return `${asks} for its disk, but appendonly is off; CONFIG SET appendonly yes, and set it in redis.conf`;
  }
  const code = replyCode(refused);
  return `${asks} for ${command}, which it refuses (${code}); allow it to this user, or use another durability`;
}

/** `Redis 7.0.15`, or undefined where INFO is denied. */
export async function serverName(client: RedisClient): Promise<string | undefined> {
  const info = await client.info("server").catch(() => "");
  const field = (name: string) => new RegExp(`^${name}:(\\S+)`, "m").exec(info)?.[1];
  const valkey = field("valkey_version");
  const redis = field("redis_version");
  return valkey ? `Valkey ${valkey}` : redis && `Redis ${redis}`;
}
