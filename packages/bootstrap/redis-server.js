import { spawn, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { resolve as absolute } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { dieWithParent } from "./die-with-parent.js";
import { findRedisServer } from "./find-redis.js";
import { freePort } from "./free-port.js";
import { redisLaunch } from "./redis-launch.js";
import { askRedis, RedisReplyError } from "./redis-probe.js";

export { findRedisServer };

const LOG_LINES_KEPT = 40;

/**
 * @typedef {object} RedisServer
 * @property {string} url
 * @property {number} port
 * @property {number} pid
 * @property {Promise<void>} exited settles when the server has ended, for whatever reason
 * @property {() => string} log its last log lines
 * @property {(signal: NodeJS.Signals) => void} signal
 * @property {(options?: { limitMs?: number }) => Promise<void>} stop SIGTERM, then SIGKILL after the limit
 */

/** The server ended while it was still wanted; the message carries its last log lines. */
export class RedisExitedError extends Error {
  /** @override */
  name = "RedisExitedError";
  /** @type {boolean} */
  portTaken;

  /**
   * @param {string} how
   * @param {string} log
   */
  constructor(how, log) {
    super(`The Redis server ended before it answered (${how}). Its last log lines:\n${log || "(none)"}`);
    this.portTaken = /address already in use|port is already allocated/i.test(log);
  }
}

/**
 * Start a Redis server of our own on the loopback, and resolve once it answers PING. It ends with this process,
 * even if this process is killed.
 *
 * @param {object} options
 * @param {string} options.dir its data; made if missing. Two servers must never share one
 * @param {number} [options.port] a free one by default; if it is taken, that is an error
 * @param {boolean} [options.appendonly] keep the data over restarts; false by default
 * @param {readonly string[]} [options.args] further settings, as on its command line; they win
 * @param {import("./find-redis.js").RedisServerCommand} [options.server] what `findRedisServer` gave
 * @param {number} [options.startLimitMs] until it answers, loading its data included; 30 s by default
 * @returns {Promise<RedisServer>}
 */
export async function startRedisServer(options) {
  const server = options.server ?? (await findRedisServer());
  mkdirSync(options.dir, { recursive: true });
  for (let attemptsLeft = 5; ; attemptsLeft--) {
    try {
      return await launch(server, options, options.port ?? (await freePort()));
    } catch (error) {
      // Between our look and the server's bind, somebody else may take a port that was free.
      const another = error instanceof RedisExitedError && error.portTaken && options.port === undefined;
      if (!another || attemptsLeft <= 1) throw error;
    }
  }
}

/**
 * @param {string} server
 * @param {Parameters<typeof startRedisServer>[0]} options
 * @param {number} port
 * @returns {Promise<RedisServer>}
 */
async function launch(server, { dir, appendonly = false, args = [], startLimitMs = 30_000 }, port) {
  const plan = redisLaunch(server, { dir: absolute(dir), port, appendonly, args });
  const child = spawn(plan.command, plan.args, {
    stdio: ["ignore", "pipe", "pipe"],
    // Its own process group: a Ctrl-C in the terminal is for us, and we stop Redis last.
    detached: true,
  });
  /** @type {string[]} */
  const lines = [];
  const log = () => lines.join("\n");
  /** @type {Promise<string>} */
  const ended = new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    // "close" and not "exit": its last lines are the ones that say why.
    child.once("close", (code, signal) => resolve(signal ? `by ${signal}` : `exit code ${code}`));
  });
  let saidReady = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      lines.push(...String(text).trimEnd().split("\n"));
      lines.splice(0, Math.max(0, lines.length - LOG_LINES_KEPT));
      saidReady ||= text.includes("Ready to accept connections");
    });
  }
  const { pid } = child;
  if (pid === undefined) throw new RedisExitedError(await ended, log());

  const untie = dieWithParent(pid, plan.container ? ["docker", "rm", "--force", plan.container] : undefined);
  const exited = ended.then(untie);
  /** @param {NodeJS.Signals} signal */
  const signal = (signal) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    if (plan.container)
      spawnSync("docker", ["kill", "--signal", signal, plan.container], { stdio: "ignore" });
    else child.kill(signal);
  };
  const stop = async ({ limitMs = 5_000 } = {}) => {
    signal("SIGTERM");
    // A server that a test has frozen does not see the SIGTERM until it runs again.
    signal("SIGCONT");
    const timer = setTimeout(() => signal("SIGKILL"), limitMs);
    await exited;
    clearTimeout(timer);
  };

  /** @type {string | undefined} */
  let endedEarly;
  const deadline = Date.now() + startLimitMs;
  const early = ended.then((how) => {
    endedEarly = how;
  });
  // Its log line first, because that is our own child's: PING alone could be answered by whoever took the port.
  while (endedEarly === undefined && !(saidReady && (await answersPing(port)))) {
    if (Date.now() > deadline) {
      await stop({ limitMs: 0 });
      throw new Error(
        `The Redis server did not answer within ${startLimitMs} ms. Its last log lines:\n${log() || "(none)"}`,
      );
    }
    await Promise.race([early, delay(10)]);
  }
  if (endedEarly !== undefined) {
    await exited;
    throw new RedisExitedError(endedEarly, log());
  }
  return { url: `redis://127.0.0.1:${port}`, port, pid, exited, log, signal, stop };
}

/** @param {number} port */
async function answersPing(port) {
  try {
    return (await askRedis(port, ["PING"])) === "PONG";
  } catch (error) {
    // A server that wants a password is up.
    return error instanceof RedisReplyError && error.message.startsWith("NOAUTH");
  }
}
