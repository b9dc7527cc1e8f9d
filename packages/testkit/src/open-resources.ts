import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { basename } from "node:path";

export interface OpenResources {
  /** Connections of this process to that loopback port, as their local ports. */
  connectionsTo(port: number): number[];
  /** Child processes that have not ended, as `pid command line`. */
  children(): string[];
}

/** Node announces every outgoing connection and every child on these channels: no list of ours to keep in step. */
export function watchOpenResources(): OpenResources {
  const sockets = new Set<Socket>();
  const children = new Set<ChildProcess>();
  subscribe("net.client.socket", (message) => {
    const { socket } = message as { socket: Socket };
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  subscribe("child_process", (message) => {
    const { process: child } = message as { process: ChildProcess };
    children.add(child);
    child.once("exit", () => children.delete(child));
    child.once("error", () => {
      if (child.pid === undefined) children.delete(child);
    });
  });
  return {
    connectionsTo: (port) =>
      [...sockets].flatMap(({ remotePort, localPort, destroyed }) =>
        remotePort === port && localPort !== undefined && !destroyed ? [localPort] : [],
      ),
    children: () =>
      [...children]
        .filter((child) => child.exitCode === null && child.signalCode === null)
        // esbuild keeps one helper for the whole process, which ends with it.
        .filter((child) => basename(child.spawnfile) !== "esbuild")
        .map((child) => `${child.pid} ${child.spawnargs.join(" ").slice(0, 200)}`),
  };
}
