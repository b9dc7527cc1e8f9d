import type { Durability } from "webhook-anvil";
import { type Finding, fail, ok, warn } from "./finding.ts";
import type { RedisFacts } from "./redis-facts.ts";

const CHECK = "durability";
/** The first Redis with WAITAOF; every Valkey counts as this or a later one. */
const WAITAOF_SINCE = "7.2.0";

/** Whether the server can do what a 202 is configured to wait for. */
export function durabilityFindings({ info }: RedisFacts, durability: Durability): Finding[] {
  switch (durability) {
    case "memory":
      return [];
    case "replica": {
      const replicas = Number(info.get("connected_slaves") ?? 0);
      if (replicas > 0) return [ok(CHECK, "replica: each 202 waits for one of them")];
      const message = "replica, and none is connected: every delivery is answered 503";
      return [fail(CHECK, message, "Connect a replica, or choose another durability")];
    }
    case "disk": {
      const version = info.get("redis_version");
      if (version === undefined || !info.has("aof_enabled")) {
        const message = "disk, and INFO doesn't tell whether the server can";
        return [warn(CHECK, message, "Start the ingress: it tries it, and says so")];
      }
      if (version.localeCompare(WAITAOF_SINCE, "en", { numeric: true }) < 0) {
        const message = `disk, and ${version} has no WAITAOF: every delivery is answered 503`;
        return [fail(CHECK, message, "Use Redis 7.2 or later, or Valkey, or choose another durability")];
      }
      if (info.get("aof_enabled") !== "1") {
        const message = "disk, and appendonly is off: every delivery is answered 503";
        return [fail(CHECK, message, "CONFIG SET appendonly yes, and in redis.conf")];
      }
      return [ok(CHECK, "disk: each 202 waits until it is written there")];
    }
  }
}
