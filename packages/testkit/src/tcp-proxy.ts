import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";
import { atTestEnd } from "./at-test-end.ts";

/** A way to a server on the loopback that can be long, and can break. */
export interface TcpProxy {
  readonly port: number;
  /** Connections open now. */
  connections(): number;
  /** All connections so far. */
  accepted(): number;
  /** Half of it is spent each way, from now on. Connecting stays as quick: the kernel does that. */
  roundTrip(ms: number): void;
  /** Breaks what is open with an RST, as a peer that has forgotten the connection does. */
  cut(): void;
  /** What is open stays open for both ends and carries nothing any more, as behind a NAT that has forgotten it. */
  blackHole(): void;
  /** New connections are broken as soon as they are made, until `heal`. */
  refuse(): void;
  /** New connections are carried, and without delay. */
  heal(): void;
  stop(): Promise<void>;
}

interface Link {
  readonly ends: readonly [Socket, Socket];
  silent: boolean;
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const links = new Set<Link>();
  const state = { oneWayMs: 0, refusing: false, accepted: 0 };

  const carry = (link: Link, from: Socket, to: Socket): void => {
    // Timers of one length fire in the order that they were made in, so bytes keep theirs.
    const later = (act: () => void) => (state.oneWayMs > 0 ? setTimeout(act, state.oneWayMs) : act());
    from.on("data", (bytes) => {
      later(() => {
        if (!link.silent && to.writable) to.write(bytes);
      });
    });
    from.on("end", () => {
      later(() => {
        if (!link.silent) to.end();
      });
    });
    from.on("error", () => {});
    from.on("close", () => {
      if (from.destroyed && from.errored && !link.silent) to.destroy();
      if (link.ends.every((end) => end.destroyed)) links.delete(link);
    });
  };

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    state.accepted += 1;
    if (state.refusing) {
      client.on("error", () => {});
      client.resetAndDestroy();
      return;
    }
    const target = createConnection({
      host: "127.0.0.1",
      port: targetPort,
      allowHalfOpen: true,
      noDelay: true,
    });
    const link: Link = { ends: [client, target], silent: false };
    links.add(link);
    carry(link, client, target);
    carry(link, target, client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  const reset = (): void => {
    for (const { ends } of links) for (const end of ends) end.resetAndDestroy();
  };
  const proxy: TcpProxy = {
    port: (server.address() as AddressInfo).port,
    connections: () =>
      [...links].filter(({ ends, silent }) => !silent && !ends.some((end) => end.destroyed)).length,
    accepted: () => state.accepted,
    roundTrip(ms) {
      state.oneWayMs = ms / 2;
    },
    cut: reset,
    blackHole() {
      for (const link of links) link.silent = true;
    },
    refuse() {
      state.refusing = true;
    },
    heal() {
      state.refusing = false;
      state.oneWayMs = 0;
    },
    async stop() {
      reset();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  atTestEnd(() => proxy.stop());
  return proxy;
}
