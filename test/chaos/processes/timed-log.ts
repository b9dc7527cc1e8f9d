import { consoleLog, type Log } from "webhook-anvil";

const now = () => ({ time: new Date().toISOString().slice(11) });

/** The console's log with the time of each line: after a run, the logs of six processes are read side by side. */
export const timedLog: Log = {
  info: (fields, message) => consoleLog.info({ ...now(), ...fields }, message),
  warn: (fields, message) => consoleLog.warn({ ...now(), ...fields }, message),
  error: (fields, message) => consoleLog.error({ ...now(), ...fields }, message),
};
