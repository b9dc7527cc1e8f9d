import { runCommandLine } from "./command-line.ts";
import { createContext, type Environment } from "./context.ts";
import { explain } from "./failure.ts";

/**
 * The command line of this process, from its arguments to its exit code: 0 done, 1 failed, 2 wrong usage.
 * What a command opened it closes; then Node has nothing left to do, and ends by itself.
 */
export async function main(args: readonly string[], env: Environment): Promise<number> {
  const context = createContext(env);
  // A promise that a handler forgot: nobody knows what state that leaves behind, so it ends here, as in plain Node.
  process.once("uncaughtException", (error) => {
    const { lines, exitCode } = explain(error, env);
    for (const line of lines) context.stderr.line(line);
    process.exit(exitCode);
  });
  return await runCommandLine(args, context);
}
