import { createConnection } from "node:net";

/** @typedef {string | number | null | Reply[]} Reply */

/** Redis answered, and its answer is an error (`-NOAUTH …`, `-LOADING …`). */
export class RedisReplyError extends Error {
  /** @override */
  name = "RedisReplyError";
}

/**
 * One command on a connection of its own, for a loopback server. Enough of the protocol to ask whether a
 * server is up, before any client library is installed.
 *
 * @param {number} port
 * @param {readonly (string | number)[]} command
 * @param {{ timeoutMs?: number }} [options] one second by default, connecting included
 * @returns {Promise<Reply>}
 */
export function askRedis(port, command, { timeoutMs = 1_000 } = {}) {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: "127.0.0.1", port });
    const timer = setTimeout(
      () =>
        socket.destroy(new Error(`Redis on port ${port} gave no answer to ${command[0]} in ${timeoutMs} ms`)),
      timeoutMs,
    );
    let received = Buffer.alloc(0);
    socket.on("connect", () => {
      const parts = command.map(String).map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
      socket.write(`*${parts.length}\r\n${parts.join("")}`);
    });
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      const parsed = parseReply(received, 0);
      if (!parsed) return;
      if (parsed.value instanceof RedisReplyError) reject(parsed.value);
      else resolve(parsed.value);
      socket.destroy();
    });
    socket.on("error", reject);
    socket.on("close", () => {
      clearTimeout(timer);
      // After an answer this changes nothing: the promise is settled.
      reject(new Error(`Redis on port ${port} closed the connection before it answered ${command[0]}`));
    });
  });
}

/**
 * @param {Buffer} buffer
 * @param {number} start
 * @returns {{ value: Reply | RedisReplyError, end: number } | undefined} undefined: more bytes are needed
 */
function parseReply(buffer, start) {
  const lineEnd = buffer.indexOf("\r\n", start);
  if (lineEnd < 0) return undefined;
  const line = buffer.toString("utf8", start + 1, lineEnd);
  let end = lineEnd + 2;
  switch (String.fromCharCode(buffer[start] ?? 0)) {
    case "+":
      return { value: line, end };
    case "-":
      return { value: new RedisReplyError(line), end };
    case ":":
      return { value: Number(line), end };
    case "$": {
      const length = Number(line);
      if (length < 0) return { value: null, end };
      if (buffer.length < end + length + 2) return undefined;
      return { value: buffer.toString("utf8", end, end + length), end: end + length + 2 };
    }
    case "*": {
      /** @type {Reply[]} */
      const items = [];
      for (let left = Number(line); left > 0; left--) {
        const item = parseReply(buffer, end);
        if (!item) return undefined;
        items.push(item.value instanceof RedisReplyError ? item.value.message : item.value);
        end = item.end;
      }
      return { value: items, end };
    }
    default:
      throw new Error(`what answers there does not speak Redis: ${JSON.stringify(line.slice(0, 80))}`);
  }
}
