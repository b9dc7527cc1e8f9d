import { accessSync, constants, existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { lastLines, runCommand } from "./command.js";

const PROGRAMS = ["redis-server", "valkey-server"];
const IMAGE = "valkey/valkey:8-alpine";
const DOCKER = "docker:";

/**
 * How to run a Redis server: the path of a program, or `docker:<image>`.
 * One string, so that it can travel in ANVIL_REDIS_SERVER.
 *
 * @typedef {string} RedisServerCommand
 */

/**
 * Find a Redis server, or obtain one: ANVIL_REDIS_SERVER, the PATH, the system's package manager where it may
 * be used without asking, Docker where its engine answers.
 *
 * @param {{ env?: NodeJS.ProcessEnv, platform?: NodeJS.Platform, uid?: number | undefined, log?: (line: string) => void }} [options]
 * @returns {Promise<RedisServerCommand>}
 */
export async function findRedisServer({
  env = process.env,
  platform = process.platform,
  uid = process.getuid?.(),
  log = () => {},
} = {}) {
  const named = env.ANVIL_REDIS_SERVER;
  if (named) {
    if (named.startsWith(DOCKER) || isProgram(named)) return named;
    throw new Error(
      `ANVIL_REDIS_SERVER names ${named}, which is no program. Correct it, or unset it to have one found.`,
    );
  }
  const present = onPath(PROGRAMS, env);
  if (present) return present;

  /** @type {string[]} */
  const refusals = [`neither ${PROGRAMS.join(" nor ")} is on the PATH`];
  for (const obtain of [fromPackageManager, fromDocker]) {
    const outcome = await obtain({ env, platform, uid, log });
    if ("server" in outcome) return outcome.server;
    refusals.push(outcome.refusal);
  }
  throw new Error(
    [
      `No Redis server: ${refusals.join("; ")}.`,
      "Do one of three things, then run this again:",
      "  1. install one: sudo apt-get install redis-server, brew install redis, or your system's package",
      "  2. start Docker, and one is run from its image",
      "  3. for npm start: set REDIS_URL to a Redis that you have",
    ].join("\n"),
  );
}

/**
 * @param {RedisServerCommand} server
 * @returns {string | undefined} the image, when the server is run by Docker
 */
export function dockerImage(server) {
  return server.startsWith(DOCKER) ? server.slice(DOCKER.length) : undefined;
}

/**
 * @typedef {{ env: NodeJS.ProcessEnv, platform: NodeJS.Platform, uid: number | undefined, log: (line: string) => void }} Machine
 * @typedef {{ server: RedisServerCommand } | { refusal: string }} Outcome
 */

/**
 * @param {Machine} machine
 * @returns {Promise<Outcome>}
 */
async function fromPackageManager({ env, platform, uid, log }) {
  if (platform === "darwin" && onPath(["brew"], env)) {
    // brew refuses to run as root, and is right to.
    if (uid === 0) return { refusal: "brew does not run as root" };
    log("redis: installing it with brew");
    return installed(await runCommand("brew", ["install", "redis"], { env }), "brew", env);
  }
  if (!onPath(["apt-get"], env)) return { refusal: "no package manager that can be used without asking" };
  if (uid !== 0) return { refusal: "apt-get needs root" };

  log("redis: installing redis-server with apt-get, its service is not started");
  const quiet = { env: { ...env, DEBIAN_FRONTEND: "noninteractive" } };
  const updated = await runCommand("apt-get", ["update", "-qq"], quiet);
  if (updated.code !== 0) return { refusal: `apt-get update failed (${lastLines(updated.output, 1)})` };
  return await withoutStartingServices(async () =>
    installed(
      await runCommand("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "redis-server"], quiet),
      "apt-get",
      env,
    ),
  );
}

/**
 * @param {import("./command.js").CommandResult} result
 * @param {string} manager
 * @param {NodeJS.ProcessEnv} env
 * @returns {Outcome}
 */
function installed(result, manager, env) {
  if (result.code !== 0)
    return { refusal: `${manager} could not install it (${lastLines(result.output, 1)})` };
  const server = onPath(PROGRAMS, env);
  return server ? { server } : { refusal: `${manager} installed it, but it is still not on the PATH` };
}

/**
 * Debian's packages start their service when they are installed, which would take port 6379 of a machine that
 * only wanted to try something. This file is how Debian says no, and 101 is its word for it:
 * https://people.debian.org/~hmh/invokerc.d-policyrc.d-specification.txt
 *
 * @template T
 * @param {() => Promise<T>} install
 * @returns {Promise<T>}
 */
async function withoutStartingServices(install) {
  const policy = "/usr/sbin/policy-rc.d";
  if (existsSync(policy)) return await install();
  writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    return await install();
  } finally {
    rmSync(policy, { force: true });
  }
}

/**
 * @param {Machine} machine
 * @returns {Promise<Outcome>}
 */
async function fromDocker({ env, log }) {
  if (!onPath(["docker"], env)) return { refusal: "docker is not installed" };
  const engine = await runCommand("docker", ["version", "--format", "{{.Server.Version}}"], { env });
  if (engine.code !== 0) return { refusal: "the Docker engine does not answer" };
  const present = await runCommand("docker", ["image", "inspect", IMAGE], { env });
  if (present.code !== 0) {
    log(`redis: pulling the image ${IMAGE}`);
    const pulled = await runCommand("docker", ["pull", "--quiet", IMAGE], { env });
    if (pulled.code !== 0) return { refusal: `docker pull ${IMAGE} failed (${lastLines(pulled.output, 1)})` };
  }
  return { server: `${DOCKER}${IMAGE}` };
}

/**
 * @param {readonly string[]} programs
 * @param {NodeJS.ProcessEnv} env
 * @returns {string | undefined}
 */
function onPath(programs, env) {
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const program of programs) {
    const found = folders.map((folder) => join(folder, program)).find(isProgram);
    if (found) return found;
  }
  return undefined;
}

/** @param {string} path */
function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
