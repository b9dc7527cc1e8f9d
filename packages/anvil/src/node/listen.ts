import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { limitConnections } from "./connection-limit.ts";
import { withoutPileUps } from "./pile-ups.ts";

export type Listening = {
  readonly port: number;
  /** Host and port as the server is bound. */
  readonly boundTo: string;
  /** Where this machine reaches it, without a path. */
  readonly url: string;
  /** Takes no more connections and waits for the answers under way, at most `limitMs`. */
  close(limitMs: number): Promise<void>;
};

export type ListenOptions = {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /**
   * Open connections at once, more are closed as they come. An idle one takes about 6 kB, one with a slow body
   * about 40. Not above what the process may have open (`ulimit -n`). Default: 12 000.
   */
  readonly maxConnections?: number;
};

const TIMEOUTS = {
  /** Slower headers than this are nobody's webhook. */
  headersTimeout: 10_000,
  /** A whole request. The ingress gives a body 15 s by itself; this bounds what never gets that far. */
  requestTimeout: 30_000,
  /** Longer than the 60 s for which load balancers keep a connection: the side that reuses it must close first. */
  keepAliveTimeout: 65_000,
  /** How exactly the first two are kept; Node's own 30 s would double them. */
  connectionsCheckingInterval: 1_000,
};

/**
 * Serves an app on Node, with the time limits that a receiver of webhooks wants: Node's own would let a sender hold a
 * socket for five minutes.
 * @throws {NodeJS.ErrnoException} EADDRINUSE and its like
 */
export async function listen(
  app: { fetch(request: Request): Response | Promise<Response> },
  { host, port, maxConnections = 12_000 }: ListenOptions,
): Promise<Listening> {
  const server = createAdaptorServer({
    fetch: (request) => app.fetch(request),
    createServer: ((options: ServerOptions, listener: RequestListener) =>
      createServer(options, withoutPileUps(listener))) as typeof createServer,
    serverOptions: TIMEOUTS,
  }) as Server;
  limitConnections(server, maxConnections);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as { port: number };
  return {
    port: address.port,
    boundTo: `${bracketed(host)}:${address.port}`,
    url: `http://${bracketed(reachable(host))}:${address.port}`,
    close: (limitMs) => close(server, limitMs),
  };
}

async function close(server: Server, limitMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection is kept alive after its answer, closing or not; and while it lives, so does the server.
  const idle = setInterval(() => server.closeIdleConnections(), 20);
  const limit = setTimeout(() => server.closeAllConnections(), limitMs);
  await closed;
  clearInterval(idle);
  clearTimeout(limit);
}

function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
