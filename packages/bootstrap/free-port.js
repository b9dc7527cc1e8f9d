import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * A loopback port that nothing listens on.
 *
 * Below the range that the kernel takes outgoing ports from (32768 and up on Linux): a port of that range can
 * be lent to somebody's connection while our server restarts, and a client that keeps reconnecting to it can
 * even connect to itself.
 *
 * @returns {Promise<number>}
 */
export async function freePort() {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    if (await isFree(port)) return port;
  }
}

/**
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
