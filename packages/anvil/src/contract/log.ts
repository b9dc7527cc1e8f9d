/** Where the library says what it did. A pino logger fits as it is. */
export type Log = {
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
};

/** Never a secret, a signature or a body. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Says nothing. */
export const silentLog: Log = { info() {}, warn() {}, error() {} };

/** One JSON line for each entry on the console, as Lambda and container log collectors expect. The default. */
export const consoleLog: Log = {
  info: (fields, message) => console.log(line("info", fields, message)),
  warn: (fields, message) => console.warn(line("warn", fields, message)),
  error: (fields, message) => console.error(line("error", fields, message)),
};

function line(level: string, fields: LogFields, message: string): string {
  // U+2028 and U+2029 end a line for some collectors, and JSON leaves them as they are.
  return JSON.stringify({ level, message, ...fields }).replace(/[\u2028\u2029]/g, (char) =>
    char === "\u2028" ? "\\u2028" : "\\u2029",
  );
}
