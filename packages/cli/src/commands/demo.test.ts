import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { sharedRedisUrl, snapshotKeys, uniquePrefix, waitUntil } from "anvil-testkit";
import { expect, test } from "vitest";
import { startAnvil } from "../fixtures/anvil-process.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

test("tells the story, prints commands that work, and leaves nothing", { timeout: 60_000 }, async () => {
  const redis = sharedRedisUrl();
  const prefix = uniquePrefix();
  // What isn't the demo's it leaves alone, whatever the environment says.
  const env = {
    REDIS_URL: redis,
    ANVIL_PREFIX: prefix,
    ANVIL_QUEUE: "webhooks",
    ANVIL_RETRY_SCHEDULE: "5m",
    PORT: "0",
  };
  const demo = startAnvil(["demo"], { env });
  await demo.line(/What arrives until then/);
  const story = demo.stdout();
  expect(story).toMatch(/1\. A sender delivers[\s\S]*202 (wh_[0-9a-f]{32})\n[\s\S]*done, with the/);
  expect(story).toMatch(/202 four times[\s\S]*has run once/);
  expect(story).toMatch(/401 invalid_signature[\s\S]*nothing: Redis holds what it held before/);
  expect(story.match(/run \d +failed/g)).toHaveLength(5);
  expect(story).toMatch(/dead letter after 5 runs, last error: the bank doesn't answer/);
  expect(story).toMatch(/retries +after 200ms,400ms,600ms,800ms; the default is 1s,5s,30s,5m/);
  expect(story).not.toContain("\u001b");
  expect(Math.max(...story.split("\n").map((line) => line.length))).toBeLessThanOrEqual(90);

  const paste = async (text: string) => {
    const run = promisify(execFile);
    // A missing link in node_modules must fail here, not be looked for in the registry.
    const env = { PATH: process.env.PATH, npm_config_offline: "true" };
    return (await run("bash", ["-c", text], { cwd: root, env })).stdout;
  };
  const block = (comment: RegExp) => {
    const all = story.split("\n");
    const start = all.findIndex((line) => comment.test(line)) + 1;
    return all.slice(start, all.indexOf("", start));
  };
  const settings = block(/# so that it finds this demo/).join("\n");
  const inSecondTerminal = (commands: string) => paste(`${settings}\n${commands}`);
  const byAnvil = await inSecondTerminal(block(/# send a signed event/).join("\n"));
  expect(byAnvil).toMatch(/^202 .*"replayed":false/m);
  const byHand = block(/# the same by hand/).join("\n");
  expect(await inSecondTerminal(byHand)).toMatch(/"replayed":false/);
  expect(await inSecondTerminal(byHand)).toMatch(/"replayed":true/);
  const [send = "", list = ""] = block(/# an event that always fails/);
  await inSecondTerminal(send);
  await demo.line(/demo\.fail: run 5 failed \(made to fail\); dead letter wh_/);
  const listed = await waitUntil(
    async () => {
      const text = await inSecondTerminal(list);
      return /default\/demo\.fail +exhausted +5/.test(text) && text;
    },
    { what: "the dead letter is listed", timeoutMs: 10_000 },
  );
  // And so do the commands that those advise.
  const [, show = ""] = /^Look at one: +(.*)$/m.exec(listed) ?? [];
  expect(await inSecondTerminal(show)).toContain("last error  made to fail");
  expect(demo.stdout()).toMatch(/order\.created: run 1 done, wh_/);

  demo.signal("SIGINT");
  expect(await demo.exited).toEqual({ code: 0, signal: null });
  expect(demo.stderr()).toBe("");
  expect(await snapshotKeys(redis, prefix)).toEqual({});
});

test("stopped in the middle of the story it ends in order", async () => {
  const prefix = uniquePrefix();
  const demo = startAnvil(["demo"], {
    env: { REDIS_URL: sharedRedisUrl(), ANVIL_PREFIX: prefix, PORT: "0" },
  });
  await demo.line(/run 2 +failed/);
  demo.signal("SIGTERM");
  expect(await demo.exited).toEqual({ code: 0, signal: null });
  expect(demo.stderr()).toBe("");
  expect(await snapshotKeys(sharedRedisUrl(), prefix)).toEqual({});
});

test("two at once take a port and a queue each, and a secret of the user's isn't printed", async () => {
  const env = { REDIS_URL: sharedRedisUrl(), ANVIL_PREFIX: uniquePrefix() };
  const first = startAnvil(["demo"], { env: { ...env, PORT: "0" } });
  const port = (await first.line(/queue demo-(\d+)/))[1] as string;
  const second = startAnvil(["demo"], {
    env: { ...env, PORT: port, WEBHOOK_SECRET: "a-secret-of-the-tests" },
  });
  const next = (await second.line(/queue demo-(\d+)/))[1] as string;
  expect(Number(next)).toBeGreaterThan(Number(port));
  await Promise.all([first, second].map((demo) => demo.line(/What arrives until then/)));
  expect(second.stdout()).not.toContain("a-secret-of-the-tests");
  expect(second.stdout()).toContain("set your WEBHOOK_SECRET there too");
  for (const demo of [first, second]) {
    demo.signal("SIGINT");
    expect(await demo.exited).toEqual({ code: 0, signal: null });
  }
});
