import type { Environment } from "webhook-anvil/config";
import { createTerminal, type Terminal } from "./output/terminal.ts";

export type { Environment };

/** What a command is given of the process that it runs in. */
export type Context = {
  readonly env: Environment;
  /** Files named on the command line or in the environment are relative to it. */
  readonly cwd: string;
  readonly stdout: Terminal;
  readonly stderr: Terminal;
};

export function createContext(env: Environment): Context {
  return {
    env,
    cwd: process.cwd(),
    stdout: createTerminal(process.stdout, env),
    stderr: createTerminal(process.stderr, env),
  };
}
