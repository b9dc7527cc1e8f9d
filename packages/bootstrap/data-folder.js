import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { askRedis } from "./redis-probe.js";

/** Longer than a server may take to start: a claim without a server is younger than this, or dead. */
const CLAIM_WITHOUT_SERVER_MS = 60_000;

/**
 * @typedef {object} Claim
 * @property {number} pid the process that claimed the folder
 * @property {{ pid: number, port: number }} [server]
 */

/**
 * Two Redis servers on one folder ruin its append-only file. This claims the folder for one process, and takes
 * over what a killed one left behind: the claim, and its server if that still runs.
 *
 * @param {string} dir
 * @param {{ pid?: number, isAlive?: (pid: number) => boolean, now?: () => number, log?: (line: string) => void }} [options]
 */
export async function claimDataFolder(
  dir,
  { pid = process.pid, isAlive = processLives, now = Date.now, log = () => {} } = {},
) {
  mkdirSync(dir, { recursive: true });
  const path = join(dir, "claim.json");
  for (let attemptsLeft = 3; ; attemptsLeft--) {
    try {
      writeFileSync(path, JSON.stringify({ pid }), { flag: "wx" });
      break;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST" || attemptsLeft <= 1) throw error;
    }
    await endStaleClaim(dir, path, { isAlive, now, log });
  }
  return {
    /** @param {{ pid: number, port: number }} server */
    record: ({ pid: serverPid, port }) =>
      writeFileSync(path, JSON.stringify({ pid, server: { pid: serverPid, port } })),
    release: () => rmSync(path, { force: true }),
  };
}

/**
 * @param {string} dir
 * @param {string} path
 * @param {{ isAlive: (pid: number) => boolean, now: () => number, log: (line: string) => void }} options
 */
async function endStaleClaim(dir, path, { isAlive, now, log }) {
  const claim = readClaim(path);
  const serves = claim?.server !== undefined && (await servesFolder(claim.server, dir));
  const starting = claim?.server === undefined && ageMs(path, now) < CLAIM_WITHOUT_SERVER_MS;
  // A live process alone proves nothing: after a restart of the machine the number may be somebody else's.
  const inUse = serves || starting || (claim?.server !== undefined && isAlive(claim.server.pid));
  if (claim && isAlive(claim.pid) && inUse) {
    throw new Error(
      `${dir} is in use by process ${claim.pid}, another npm start of this checkout. End it with Ctrl-C first.`,
    );
  }
  if (claim?.server && serves) {
    log(`redis: ending the server that a killed run left behind (process ${claim.server.pid})`);
    await endServer(claim.server, dir);
  }
  rmSync(path, { force: true });
}

/**
 * @param {string} path
 * @returns {Claim | undefined} undefined when it is gone, or was cut off while being written
 */
function readClaim(path) {
  try {
    const claim = JSON.parse(readFileSync(path, "utf8"));
    return typeof claim?.pid === "number" ? claim : undefined;
  } catch {
    return undefined;
  }
}

/**
 * @param {string} path
 * @param {() => number} now
 */
function ageMs(path, now) {
  return now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
}

/**
 * Asked of the server itself, because neither a process id nor a port says whose it is now.
 *
 * @param {{ pid: number, port: number }} server
 * @param {string} dir
 */
async function servesFolder({ port }, dir) {
  try {
    const reply = await askRedis(port, ["CONFIG", "GET", "dir"]);
    return Array.isArray(reply) && typeof reply[1] === "string" && resolve(reply[1]) === resolve(dir);
  } catch {
    return false;
  }
}

/**
 * @param {{ pid: number, port: number }} server
 * @param {string} dir
 */
async function endServer(server, dir) {
  // It closes the connection instead of answering.
  await askRedis(server.port, ["SHUTDOWN", "NOSAVE"]).catch(() => undefined);
  for (const deadline = Date.now() + 5_000; await servesFolder(server, dir); await delay(50)) {
    if (Date.now() > deadline) {
      throw new Error(`A Redis server left in ${dir} (process ${server.pid}) does not end. End it by hand.`);
    }
  }
}

/** @param {number} pid */
function processLives(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}
