import type { Log } from "webhook-anvil";
import type { Terminal } from "./output/terminal.ts";

/** JSON lines for log collectors; coloured lines where a person looks on. */
export async function createLogger(terminal: Terminal): Promise<Log> {
  const { pino, stdTimeFunctions } = await import("pino");
  const options = {
    // As in the lines of the library's own log, so that functions and containers read alike.
    messageKey: "message",
    formatters: { level: (level: string) => ({ level }) },
    timestamp: stdTimeFunctions.isoTime,
    base: null,
  };
  if (!terminal.interactive) {
    const json: Log = pino(options, terminal.stream as never);
    return json;
  }
  const { default: pretty } = await import("pino-pretty");
  const stream = pretty({
    destination: terminal.stream as never,
    colorize: terminal.style.isColorSupported,
    messageKey: "message",
    translateTime: "SYS:HH:MM:ss",
    singleLine: true,
  });
  const lines: Log = pino(options, stream);
  return lines;
}
