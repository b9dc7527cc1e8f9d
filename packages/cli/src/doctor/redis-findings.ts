import { type Finding, fail, ok, warn } from "./finding.ts";
import { persistenceFinding } from "./persistence-finding.ts";
import type { RedisFacts } from "./redis-facts.ts";

/** LPOS, by which a job is found in the queue. */
const OLDEST_VERSION = "6.0.6";
/** From here on every command that BullMQ would like to use. */
const RECOMMENDED_VERSION = "6.2.0";
const SLOW_MS = 100;
const CLOCK_WARN_MS = 2_000;
const CLOCK_FAIL_MS = 60_000;

/** What the facts of a server mean for a queue. */
export function redisFindings(facts: RedisFacts, where: string): Finding[] {
  return [
    reachable(facts, where),
    version(facts),
    role(facts),
    eviction(facts),
    memory(facts),
    persistenceFinding(facts),
    clock(facts),
  ].filter((finding) => finding !== undefined);
}

function reachable({ latencyMs }: RedisFacts, where: string): Finding {
  const text = `answers at ${where} in ${latencyMs < 10 ? latencyMs.toFixed(1) : Math.round(latencyMs)} ms`;
  if (latencyMs <= SLOW_MS) return ok("redis", text);
  return warn("redis", text, "Every 202 waits for at least one such round trip; bring them closer together");
}

function version({ info }: RedisFacts): Finding {
  const found = info.get("redis_version");
  if (!found)
    return warn(
      "version",
      "INFO doesn't tell the version",
      `Make sure that it is ${RECOMMENDED_VERSION} or later`,
    );
  const name = info.has("valkey_version") ? `Valkey ${info.get("valkey_version")}` : `Redis ${found}`;
  if (olderThan(found, OLDEST_VERSION)) {
    return fail("version", `${name} lacks commands that are needed`, `Use ${RECOMMENDED_VERSION} or later`);
  }
  if (olderThan(found, RECOMMENDED_VERSION)) {
    return warn(
      "version",
      `${name} works, but BullMQ recommends more`,
      `Use ${RECOMMENDED_VERSION} or later`,
    );
  }
  return ok("version", name);
}

function olderThan(version: string, least: string): boolean {
  return version.localeCompare(least, "en", { numeric: true }) < 0;
}

function role({ info }: RedisFacts): Finding {
  const found = info.get("role");
  if (found === "slave") {
    const primary = `${info.get("master_host")}:${info.get("master_port")}`;
    return fail(
      "role",
      "this is a replica, which takes no writes",
      `Point REDIS_URL to its primary, ${primary}`,
    );
  }
  if (!found)
    return warn("role", "INFO doesn't tell whether it is a primary", "Make sure that it takes writes");
  return ok("role", `primary, ${info.get("connected_slaves") ?? 0} replicas`);
}

function eviction({ info, settings }: RedisFacts): Finding {
  const policy = settings.get("maxmemory-policy") ?? info.get("maxmemory_policy");
  if (policy === "noeviction")
    return ok("eviction", "maxmemory-policy noeviction: a full Redis refuses, and drops nothing");
  if (!policy) {
    return warn(
      "eviction",
      "maxmemory-policy can't be read: CONFIG and INFO are denied",
      "Make sure that it is noeviction, or a full Redis deletes jobs",
    );
  }
  return fail(
    "eviction",
    `maxmemory-policy ${policy}: when its memory is full, Redis deletes jobs that were answered with 202`,
    "CONFIG SET maxmemory-policy noeviction, and in redis.conf or the parameter group",
  );
}

function memory({ info }: RedisFacts): Finding | undefined {
  const used = Number(info.get("used_memory"));
  const most = Number(info.get("maxmemory"));
  if (!(used > 0)) return undefined;
  if (!(most > 0)) return ok("memory", `${mebibytes(used)} used, no limit set`);
  const text = `${mebibytes(used)} used of ${mebibytes(most)}`;
  if (used / most < 0.8) return ok("memory", text);
  return warn(
    "memory",
    text,
    "A full Redis means 503 to every sender; raise maxmemory, or look for what fills it",
  );
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(bytes < 10 * 2 ** 20 ? 1 : 0)} MiB`;
}

function clock({ clockAheadMs }: RedisFacts): Finding {
  const off = Math.abs(clockAheadMs);
  const text = `Redis is ${(off / 1000).toFixed(1)} s ${clockAheadMs > 0 ? "ahead of" : "behind"} this machine`;
  if (off < CLOCK_WARN_MS) return ok("clock", "the same as on this machine");
  const action =
    "One of the two clocks is wrong; set them by NTP. Signed deliveries are held against this machine's";
  return off < CLOCK_FAIL_MS ? warn("clock", text, action) : fail("clock", text, action);
}
