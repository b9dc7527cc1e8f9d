import { CommanderError } from "commander";
import type { Context } from "./context.ts";
import { explain } from "./failure.ts";
import { createProgram } from "./program.ts";

/** Runs one command. @returns its exit code; whatever went wrong has been said on stderr */
export async function runCommandLine(args: readonly string[], context: Context): Promise<number> {
  let exitCode = 0;
  const program = createProgram(context, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    // Commander has said it by then, through the context's stderr.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const explained = explain(error, context.env);
    for (const line of explained.lines) context.stderr.line(line);
    return explained.exitCode;
  }
}
