// npm start: dependencies, a Redis, and the demo, on a machine that has Node and npm and nothing else.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { lastLines, signalRunning } from "./command.js";
import { claimDataFolder } from "./data-folder.js";
import { dieWithParent, signalGroup } from "./die-with-parent.js";
import { ensureInstalled } from "./install.js";
import { findRedisServer, startRedisServer } from "./redis-server.js";

/** A drain waits for the handlers that run; past this they are not waited for. */
const DRAIN_LIMIT_MS = 30_000;

/** npm passes a terminal's Ctrl-C on to us, who have had it from the terminal: one key, two signals. */
const SAME_KEY_MS = 400;

const root = fileURLToPath(new URL("../..", import.meta.url));
const stopping = new AbortController();
let stoppingSince = 0;

/** @param {string} line */
const log = (line) => console.log(line);

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stop);
// After a SIGHUP there is no terminal to write to, and that must not keep us from ending in order.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

try {
  process.exitCode = await main();
} catch (error) {
  if (!stopping.signal.aborted) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

async function main() {
  await ensureInstalled(root, { log });
  if (stopping.signal.aborted) return 0;
  if (process.env.REDIS_URL) {
    log("redis: the one that REDIS_URL names");
    return await runDemo(process.env.REDIS_URL, new Promise(() => {}));
  }

  const server = await findRedisServer({ log });
  const dir = join(root, ".anvil", "redis");
  const claim = await claimDataFolder(dir, { log });
  try {
    const redis = await startRedisServer({ server, dir, appendonly: true });
    claim.record(redis);
    try {
      if (stopping.signal.aborted) return 0;
      log(`redis: our own, on port ${redis.port}, data in .anvil/redis`);
      return await runDemo(
        redis.url,
        redis.exited.then(() => lastLines(redis.log(), 5)),
      );
    } finally {
      await redis.stop();
    }
  } finally {
    claim.release();
  }
}

/**
 * @param {string} redisUrl
 * @param {Promise<string>} redisEnded with its last log lines
 * @returns {Promise<number>} the exit code
 */
async function runDemo(redisUrl, redisEnded) {
  const child = spawn(process.execPath, [join(root, "packages", "cli", "bin", "anvil.js"), "demo"], {
    env: { ...process.env, REDIS_URL: redisUrl },
    stdio: "inherit",
    // Its own process group: the terminal's SIGINT is for us, and the demo gets one SIGTERM from us.
    detached: true,
  });
  const { pid } = child;
  if (pid === undefined) throw new Error("Node could not be started a second time for the demo.");
  const untie = dieWithParent(pid);
  /** @type {Promise<number>} */
  const exited = new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve(code ?? (signal === "SIGTERM" ? 0 : 1)));
  });

  /** @type {NodeJS.Timeout | undefined} */
  let limit;
  const drain = () => {
    child.kill("SIGTERM");
    limit = setTimeout(() => {
      console.error(
        `The demo did not end within ${DRAIN_LIMIT_MS / 1_000} s of being asked to, so it was killed.`,
      );
      child.kill("SIGKILL");
    }, DRAIN_LIMIT_MS);
  };
  stopping.signal.addEventListener("abort", drain, { once: true });
  let demoEnded = false;
  let redisLost = false;
  void redisEnded.then((lines) => {
    // We stop it ourselves once the demo has ended.
    if (demoEnded) return;
    redisLost = true;
    console.error(`The Redis server ended, so the demo ends too. Its last log lines:\n${lines}`);
    if (!stopping.signal.aborted) drain();
  });

  const code = await exited;
  demoEnded = true;
  clearTimeout(limit);
  stopping.signal.removeEventListener("abort", drain);
  // Whatever the demo started and did not end.
  signalGroup(pid, "SIGKILL");
  await untie();
  return redisLost ? 1 : code;
}

function stop() {
  if (!stopping.signal.aborted) {
    stoppingSince = Date.now();
    stopping.abort();
    signalRunning("SIGTERM");
    return;
  }
  if (Date.now() - stoppingSince < SAME_KEY_MS) return;
  console.error("Stopped at once, without a drain: what ran comes back as stalled and is run again.");
  // The exit handler of die-with-parent.js kills the demo and our Redis.
  process.exit(130);
}
