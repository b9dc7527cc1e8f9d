import { setTimeout as delay } from "node:timers/promises";
import { startRedis } from "anvil-testkit";
import { describe, expect, it } from "vitest";
import { look, nothingWrong, startTrouble } from "./stream.ts";

describe("in the middle of load", () => {
  for (const [what, words, everyMs] of [
    ["SCRIPT FLUSH", ["SCRIPT", "FLUSH"], 50],
    ["CLIENT KILL TYPE normal", ["CLIENT", "KILL", "TYPE", "normal"], 100],
  ] as const) {
    it(`${what}, again and again: nothing is lost, nothing doubled`, async () => {
      const redis = await startRedis();
      const trouble = startTrouble(redis.url);
      await trouble.work({}, async ({ attempt }, event) => {
        // Some are retried, so that the scripts of failing are met too.
        if (attempt === 1 && event.endsWith("7")) throw new Error("the first attempt fails");
      });
      await trouble.work();
      const client = look(redis.url);
      const stream = trouble.stream(5);
      for (let round = 1; round <= 15; round++) {
        await stream.accepted(round * 10);
        const [command, ...rest] = words;
        await client.call(command, rest);
        await delay(everyMs);
      }
      await stream.stop();
      expect(await trouble.settle(client)).toMatchObject({ waiting: 0, dead: 0, ...nothingWrong });
    });
  }
});
