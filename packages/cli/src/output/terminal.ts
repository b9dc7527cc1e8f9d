import pico from "picocolors";
import type { Environment } from "../context.ts";

/** One of the process's two output streams. */
export type Terminal = {
  /** Somebody looks at it, rather than a file or another program. */
  readonly interactive: boolean;
  /** Columns to fill. */
  readonly width: number;
  /** Marks text up, or leaves it as it is where that would be noise. */
  readonly style: ReturnType<typeof pico.createColors>;
  line(text?: string): void;
  /** A JSON document, for programs. */
  json(value: unknown): void;
  readonly stream: NodeJS.WritableStream;
};

/** A stream that may be a terminal's. */
export type OutputStream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

const DEFAULT_WIDTH = 100;
const LEAST_WIDTH = 60;

export function createTerminal(stream: OutputStream, env: Environment): Terminal {
  const interactive = stream.isTTY === true;
  const coloured = interactive && !env.NO_COLOR && env.TERM !== "dumb";
  // `anvil dead list | head -1` closes the pipe; what would still be written has no reader.
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
  return {
    interactive,
    get width() {
      return Math.max(LEAST_WIDTH, (interactive ? stream.columns : Number(env.COLUMNS)) || DEFAULT_WIDTH);
    },
    style: pico.createColors(coloured),
    line(text = "") {
      stream.write(`${text}\n`);
    },
    json(value) {
      stream.write(`${JSON.stringify(value, null, 2)}\n`);
    },
    stream,
  };
}
