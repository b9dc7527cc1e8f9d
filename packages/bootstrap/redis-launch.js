import { randomBytes } from "node:crypto";
import { dockerImage } from "./find-redis.js";

/**
 * @typedef {object} RedisLaunch
 * @property {string} command
 * @property {string[]} args
 * @property {string} [container] the container's name, when Docker runs it
 */

/**
 * The command line of a server that belongs to one program: loopback only, no configuration file, in the
 * foreground, and never evicting, because an evicted key is a lost webhook.
 *
 * @param {import("./find-redis.js").RedisServerCommand} server
 * @param {{ dir: string, port: number, appendonly: boolean, args: readonly string[] }} options
 * @returns {RedisLaunch}
 */
export function redisLaunch(server, { dir, port, appendonly, args }) {
  const settings = [
    ...["--daemonize", "no", "--save", "", "--appendonly", appendonly ? "yes" : "no"],
    ...["--maxmemory-policy", "noeviction", ...args],
  ];
  const image = dockerImage(server);
  if (image === undefined) {
    return {
      command: server,
      args: ["--port", String(port), "--bind", "127.0.0.1", "--dir", dir, ...settings],
    };
  }
  const container = `anvil-redis-${randomBytes(6).toString("hex")}`;
  const uid = process.getuid?.();
  return {
    command: "docker",
    container,
    args: [
      ...[
        "run",
        "--rm",
        "--name",
        container,
        "--publish",
        `127.0.0.1:${port}:6379`,
        "--volume",
        `${dir}:/data`,
      ],
      // The files in `dir` are to be ours, not root's.
      ...(uid === undefined ? [] : ["--user", `${uid}:${process.getgid?.()}`]),
      ...[image, image.includes("valkey") ? "valkey-server" : "redis-server"],
      // Inside its own network namespace; the publishing above is what keeps it on the loopback.
      ...["--port", "6379", "--bind", "0.0.0.0", "--protected-mode", "no", "--dir", "/data", ...settings],
    ],
  };
}
