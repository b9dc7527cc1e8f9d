import { type Finding, fail, ok, warn } from "./finding.ts";
import type { RedisFacts } from "./redis-facts.ts";

const CHECK = "persistence";

/** What is lost when Redis crashes. A 202 means stored, and stored means as safe as Redis keeps it. */
export function persistenceFinding({ info, settings }: RedisFacts): Finding {
  const append = info.get("aof_enabled");
  if (append === undefined) {
    return warn(
      CHECK,
      "INFO doesn't tell whether anything is written to disk",
      "Make sure that AOF is on, or that losing what waits is acceptable",
    );
  }
  if (append === "1") return appendOnly(info, settings);
  if (info.get("rdb_last_bgsave_status") === "err") {
    return fail(
      CHECK,
      "the last snapshot failed, so Redis may refuse writes",
      "Look at its log and its disk",
    );
  }
  const save = settings.get("save");
  const advice = "CONFIG SET appendonly yes, and in redis.conf: then it is a second at most";
  if (save === undefined) {
    return warn(CHECK, "AOF is off: a crash loses at least what came after the last snapshot", advice);
  }
  if (save.trim() === "") return warn(CHECK, "nothing is written to disk: a restart loses every job", advice);
  return warn(CHECK, `snapshots only: a crash loses up to ${longestGap(save)} of accepted events`, advice);
}

function appendOnly(info: RedisFacts["info"], settings: RedisFacts["settings"]): Finding {
  if (info.get("aof_last_write_status") === "err") {
    return fail(
      CHECK,
      "the last write to the AOF failed, so Redis refuses writes",
      "Look at its log and its disk",
    );
  }
  switch (settings.get("appendfsync")) {
    case "always":
      return ok(CHECK, "AOF, appendfsync always: a crash loses nothing");
    case "everysec":
      return ok(CHECK, "AOF, appendfsync everysec: a crash loses a second at most");
    case "no":
      return warn(
        CHECK,
        "AOF, appendfsync no: a crash of the machine loses what the system hadn't written, often 30 s",
        "CONFIG SET appendfsync everysec, and in redis.conf",
      );
    default:
      return ok(CHECK, "AOF is on: by default a crash loses a second at most");
  }
}

/** Of "3600 1 300 100": an hour, since one change waits that long for the next snapshot. */
function longestGap(save: string): string {
  const seconds = save
    .trim()
    .split(/\s+/)
    .filter((_, index) => index % 2 === 0)
    .map(Number);
  const longest = Math.max(...seconds);
  return longest >= 60 ? `${Math.round(longest / 60)} min` : `${longest} s`;
}
