import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { atTestEnd } from "./at-test-end.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

export interface SpawnNodeOptions {
  /** A TypeScript or JavaScript file, relative to the checkout's root or absolute. */
  entry: string;
  args?: readonly string[];
  /** Added to this process's environment; `undefined` takes a variable away. */
  env?: Readonly<Record<string, string | undefined>>;
}

export interface ProcessEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface TestProcess {
  readonly pid: number;
  readonly exited: Promise<ProcessEnd>;
  /** All of it so far, without colours. */
  stdout(): string;
  stderr(): string;
  /** The first line, already printed or still to come, of either stream; fails when the process ends without one. */
  waitForLine(pattern: RegExp, options?: { timeoutMs?: number }): Promise<RegExpExecArray>;
  /** SIGTERM by default. Resolves when the process has ended. */
  kill(signal?: NodeJS.Signals): Promise<ProcessEnd>;
  /** Without waiting: SIGSTOP, SIGCONT, or the first of two signals. */
  signal(signal: NodeJS.Signals): void;
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
  const { pid } = child;
  if (pid === undefined) throw new Error(`Node at ${process.execPath} could not be started.`);

  const output = { stdout: "", stderr: "" };
  const watchers = new Set<() => void>();
  let end: ProcessEnd | undefined;
  const notify = (): void => {
    for (const watcher of watchers) watcher();
  };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += stripVTControlCharacters(text);
      notify();
    });
  }
  const exited = new Promise<ProcessEnd>((settle) => {
    child.once("close", (code, signal) => {
      end = { code, signal };
      settle(end);
      notify();
    });
  });

  const kill = async (signal: NodeJS.Signals = "SIGTERM"): Promise<ProcessEnd> => {
    child.kill(signal);
    return await exited;
  };
  atTestEnd(async () => {
    if (end === undefined) await kill("SIGKILL");
  });

  return {
    pid,
    exited,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    kill,
    signal: (signal) => void child.kill(signal),
    waitForLine(pattern, { timeoutMs = 10_000 } = {}) {
      return new Promise((settle, fail) => {
        const finish = (outcome: () => void): void => {
          clearTimeout(timer);
          watchers.delete(look);
          outcome();
        };
        const give = (what: string): Error =>
          new Error(
            `${what} before ${entry} printed a line like ${pattern}. It printed:\n${printed(output)}`,
          );
        const timer = setTimeout(() => finish(() => fail(give(`${timeoutMs} ms went by`))), timeoutMs);
        const look = (): void => {
          const match = findLine(output, pattern, end !== undefined);
          if (match) finish(() => settle(match));
          else if (end) finish(() => fail(give(`It ended (${end?.signal ?? `exit code ${end?.code}`})`)));
        };
        watchers.add(look);
        look();
      });
    },
  };
}

/** A line counts once it is whole: half of one could match half of a pattern. */
function findLine(
  output: { stdout: string; stderr: string },
  pattern: RegExp,
  ended: boolean,
): RegExpExecArray | undefined {
  for (const text of [output.stdout, output.stderr]) {
    const lines = text.split("\n");
    for (const line of ended ? lines : lines.slice(0, -1)) {
      pattern.lastIndex = 0;
      const match = pattern.exec(line);
      if (match) return match;
    }
  }
  return undefined;
}

function printed({ stdout, stderr }: { stdout: string; stderr: string }): string {
  return `${stdout}${stderr}`.trimEnd() || "(nothing)";
}

/** A child that thinks it is a vitest worker behaves like one (NODE_ENV=test, its options for Node). */
function withoutVitest(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => !/^(VITEST|TEST$|NODE_ENV$|NODE_OPTIONS$|__VITEST)/.test(name),
  );
  return Object.fromEntries(kept);
}
