import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");

it("fails a test file that leaves a connection or a child process, and names both", async () => {
  const args = [vitest, "run", "--config", "packages/testkit/src/fixtures/leaky.config.ts"];
  const { code, output } = await new Promise<{ code: unknown; output: string }>((resolve) => {
    execFile(process.execPath, args, { cwd: root }, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, output: stdout + stderr });
    });
  });
  expect(output).toMatch(/1 passed/);
  expect(output).toContain("connection to the shared Redis, forgotten, last command ping");
  expect(output).toMatch(/child process \d+ .*forgotten-child/);
  expect(code).toBe(1);
  const left = Number(/child process (\d+)/.exec(output)?.[1]);
  process.kill(left, "SIGKILL");
  // A vitest of its own takes a while to start where much else runs.
}, 60_000);
