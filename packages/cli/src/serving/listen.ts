import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { Failure } from "../failure.ts";

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

/** @throws {NodeJS.ErrnoException} EADDRINUSE and its like; `listenFailure` puts them into words */
export async function listen(
  app: { fetch(request: Request): Response | Promise<Response> },
  { host, port }: ListenOptions,
): Promise<Listening> {
  const server = createAdaptorServer({
    fetch: (request) => app.fetch(request),
    serverOptions: TIMEOUTS,
  }) as Server;
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

/** What a person is told when the port can't be had. */
export function listenFailure(error: NodeJS.ErrnoException, { host, port }: ListenOptions): Error {
  if (error.code === "EADDRINUSE") {
    return new Failure(
      `port ${port} of ${host} is taken; set PORT to another one, or to 0 for any that is free`,
    );
  }
  if (error.code === "EACCES")
    return new Failure(`port ${port} needs more rights; set PORT to one above 1023`);
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND") {
    return new Failure(`HOST is "${host}", which is no address of this machine; 0.0.0.0 takes all of them`);
  }
  return error;
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
