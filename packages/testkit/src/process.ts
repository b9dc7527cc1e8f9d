import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { atTestEnd } from "./at-test-end.ts";
import { type TestProcess, watchProcess } from "./watched-process.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

export interface SpawnNodeOptions {
  /** A TypeScript or JavaScript file, relative to the checkout's root or absolute. */
  entry: string;
  args?: readonly string[];
  /** Added to this process's environment; `undefined` takes a variable away. */
  env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Run an entry of this checkout from its sources, on the Node that runs the tests.
 * Killed when the test that started it ends, if it has not ended by then.
 */
export function spawnNode({ entry, args = [], env = {} }: SpawnNodeOptions): TestProcess {
  const child = spawn(
    process.execPath,
    ["--conditions", "anvil-source", "--import", tsx, resolve(root, entry), ...args],
    {
      cwd: root,
      env: { ...withoutVitest(process.env), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const watched = watchProcess(child, entry);
  atTestEnd(async () => {
    // Has no effect on one that has ended.
    await watched.kill("SIGKILL");
  });
  return watched;
}

/** A child that thinks it is a vitest worker behaves like one (NODE_ENV=test, its options for Node). */
function withoutVitest(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => !/^(VITEST|TEST$|NODE_ENV$|NODE_OPTIONS$|__VITEST)/.test(name),
  );
  return Object.fromEntries(kept);
}
