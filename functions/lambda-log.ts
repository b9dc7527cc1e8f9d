import type { ConnectionOptions } from "webhook-anvil/queue";

type Log = ConnectionOptions["log"];

/**
 * For Lambda's JSON log format, which sst.config.ts asks for: Lambda adds time, level and request id to what the
 * console is given. Given an object, its fields can be searched for; a line of JSON would be quoted into one text.
 */
export const lambdaLog: Log = {
  info: (fields, message) => console.info({ message, ...fields }),
  warn: (fields, message) => console.warn({ message, ...fields }),
  error: (fields, message) => console.error({ message, ...fields }),
};
