import { expect, it } from "vitest";
import { replayRecord } from "./replay-record.ts";

it("keeps who and why, and when", () => {
  expect(replayRecord({ by: "jane", reason: "the bank is back" }, 5)).toEqual({
    ...{ at: 5, by: "jane", reason: "the bank is back" },
  });
  expect(replayRecord({ by: "jane" }, 5)).toEqual({ at: 5, by: "jane" });
});

it.each([undefined, "", "  ", "\n\u0000"])("names nobody for %j", (by) => {
  expect(replayRecord({ ...(by === undefined ? {} : { by }), reason: "\t" }, 5)).toEqual({
    ...{ at: 5, by: "unknown" },
  });
});

it("is one line of at most 200 characters, that cjson can read", () => {
  const hostile = 'a\r\n{"level":"info"}\u001b[2J\u202e\u2028\ud800b';
  expect(replayRecord({ by: hostile }, 5).by).toBe('a {"level":"info"} [2J b');
  const long = replayRecord({ by: "😀".repeat(500), reason: "x".repeat(100_000) }, 5);
  expect([[...long.by].length, long.reason?.length]).toEqual([200, 200]);
  expect(long.by).not.toMatch(/\p{Cs}/u);
});
