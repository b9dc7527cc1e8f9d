import type { Server } from "node:http";

/** Between two looks for connections that can go. */
const CLEARING_INTERVAL_MS = 1_000;
const SECOND_LOOK_MS = 100;

/**
 * Bounds the connections of a server. Near the limit those that are kept alive for nothing are closed, so that
 * whoever opens thousands and leaves them doesn't keep others out; at the limit new ones are.
 */
export function limitConnections(server: Server, limit: number): void {
  let open = 0;
  let clearedAt = Number.NEGATIVE_INFINITY;
  server.maxConnections = limit;
  server.on("connection", (socket) => {
    open += 1;
    socket.once("close", () => {
      open -= 1;
    });
    if (open < limit * 0.9 || performance.now() - clearedAt < CLEARING_INTERVAL_MS) return;
    clearedAt = performance.now();
    server.closeIdleConnections();
    // Whoever is being answered at this moment is idle in the next.
    setTimeout(() => server.closeIdleConnections(), SECOND_LOOK_MS).unref();
  });
}
