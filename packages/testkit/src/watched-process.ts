import type { ChildProcessByStdio } from "node:child_process";
import type { Readable } from "node:stream";
import { stripVTControlCharacters } from "node:util";

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
 * Needs no vitest, so that benchmarks can use it too.
 *
 * @param name what it is called in messages
 */
export function watchProcess(
  child: ChildProcessByStdio<null, Readable, Readable>,
  name: string,
): TestProcess {
  const { pid } = child;
  if (pid === undefined) {
    // Said below; without a listener it would be an uncaught error as well.
    child.once("error", () => {});
    throw new Error(`${name} could not be started: there is no ${child.spawnfile}.`);
  }

  const output = { stdout: "", stderr: "" };
  const watchers = new Set<() => void>();
  let end: ProcessEnd | undefined;
  const notify = (): void => {
    for (const watcher of watchers) watcher();
  };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      output[stream] += stripVTControlCharacters(text);
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

  return {
    pid,
    exited,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    async kill(signal = "SIGTERM") {
      child.kill(signal);
      return await exited;
    },
    signal: (signal) => void child.kill(signal),
    waitForLine(pattern, { timeoutMs = 10_000 } = {}) {
      return new Promise((settle, fail) => {
        const finish = (outcome: () => void): void => {
          clearTimeout(timer);
          watchers.delete(look);
          outcome();
        };
        const give = (what: string): Error =>
          new Error(`${what} before ${name} printed a line like ${pattern}. It printed:\n${printed(output)}`);
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
