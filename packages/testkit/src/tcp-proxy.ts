import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";
import { atTestEnd } from "./at-test-end.ts";
import { type DelayLine, delayLine } from "./delay-line.ts";

/**
 * A way to a server on the loopback that can be long, and can break. Requests are what the client sends, replies what
 * the server sends. A connection that has lost bytes never carries that direction again, as TCP would never: what
 * came next would be read as something else. Connecting always succeeds at once: the kernel does that.
 */
export interface TcpProxy {
  readonly port: number;
  /** Connections open now. */
  connections(): number;
  /** All connections so far. */
  accepted(): number;
  /** Half of it is spent each way, from now on, and up to half of the jitter on top. */
  roundTrip(ms: number, jitter?: Jitter): void;
  /** Breaks what is open with an RST, as a peer that has forgotten the connection does. */
  cut(): void;
  /**
   * What is open stays open for both ends and carries nothing any more, as behind a NAT that has forgotten it; with
   * `newToo`, so does everything that is opened until `heal`.
   */
  blackHole(options?: { newToo?: boolean }): void;
  /** New connections are broken as soon as they are made, until `heal`. */
  refuse(): void;
  /** Requests get through, their replies never come back; for open and new connections, until `heal`. */
  swallowReplies(): void;
  /** Requests never arrive; for open and new connections, until `heal`. */
  dropRequests(): void;
  /**
   * Requests are held back, for open and new connections, until `release`. They are delivered then even if their
   * client has given up and closed its side.
   */
  holdRequests(): void;
  /** Delivers what was held, each connection's in its order, and holds no more. */
  release(): void;
  /** How many bytes are held now. */
  held(): number;
  /** New connections go to another server; open ones stay where they are. */
  pointTo(port: number): void;
  /** New connections are carried, and without delay; what is held stays held. */
  heal(): void;
  stop(): Promise<void>;
}

export interface Jitter {
  jitterMs: number;
  /** From 0 to 1: seeded, so that a run can be repeated. */
  random: () => number;
}

interface Link {
  readonly ends: readonly [client: Socket, target: Socket];
  readonly lines: readonly [requests: DelayLine, replies: DelayLine];
  /** What the client sent and the target has not been given: bytes, and that there is no more. */
  readonly held: (Buffer | "end")[];
  /** That direction has lost bytes. */
  readonly lost: { requests: boolean; replies: boolean };
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const links = new Set<Link>();
  const healthy = { delayMs: () => 0, refusing: false, losing: { requests: false, replies: false } };
  let faults = { ...healthy };
  let holding = false;
  let target = targetPort;
  let accepted = 0;

  const carry = (link: Link, direction: "requests" | "replies"): void => {
    const [from, to] = direction === "requests" ? link.ends : [link.ends[1], link.ends[0]];
    const line = link.lines[direction === "requests" ? 0 : 1];
    const pass = (what: Buffer | "end"): void => {
      if (link.lost[direction]) return;
      if (direction === "requests" && (holding || link.held.length > 0)) hold(link, what);
      else give(to, what);
    };
    from.on("data", (bytes: Buffer) => {
      if (faults.losing[direction]) link.lost[direction] = true;
      line.push(faults.delayMs(), () => pass(bytes));
    });
    from.on("end", () => line.push(faults.delayMs(), () => pass("end")));
    from.on("error", () => {});
    from.on("close", () => {
      if (from.errored && !link.lost[direction] && !link.held.includes("end")) {
        // A reset overtakes what is on the way, but not what is held: that has "arrived" behind the reset.
        if (direction === "requests" && link.held.length > 0) hold(link, "end");
        else to.destroy();
      }
      if (link.ends.every((end) => end.destroyed)) {
        for (const each of link.lines) each.clear();
        links.delete(link);
      }
    });
  };

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    accepted += 1;
    if (faults.refusing) {
      client.on("error", () => {});
      client.resetAndDestroy();
      return;
    }
    const link: Link = {
      ends: [
        client,
        createConnection({ host: "127.0.0.1", port: target, allowHalfOpen: true, noDelay: true }),
      ],
      lines: [delayLine(), delayLine()],
      held: [],
      lost: { ...faults.losing },
    };
    links.add(link);
    carry(link, "requests");
    carry(link, "replies");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  const release = (): void => {
    holding = false;
    for (const { ends, held } of links) for (const what of held.splice(0)) give(ends[1], what);
  };
  const reset = (): void => {
    for (const { ends, lines, held } of links) {
      held.length = 0;
      for (const line of lines) line.clear();
      for (const end of ends) end.resetAndDestroy();
    }
  };
  const proxy: TcpProxy = {
    port: (server.address() as AddressInfo).port,
    connections: () =>
      [...links].filter(
        ({ ends, lost }) => !lost.requests && !lost.replies && !ends.some((end) => end.destroyed),
      ).length,
    accepted: () => accepted,
    roundTrip(ms, jitter) {
      faults.delayMs = jitter
        ? () => (ms + jitter.jitterMs * Math.min(1, Math.max(0, jitter.random()))) / 2
        : () => ms / 2;
    },
    cut: reset,
    blackHole({ newToo = false } = {}) {
      for (const { lost } of links) Object.assign(lost, { requests: true, replies: true });
      if (newToo) faults.losing = { requests: true, replies: true };
    },
    refuse() {
      faults.refusing = true;
    },
    swallowReplies() {
      faults.losing = { ...faults.losing, replies: true };
    },
    dropRequests() {
      faults.losing = { ...faults.losing, requests: true };
    },
    holdRequests() {
      holding = true;
    },
    release,
    held: () =>
      [...links]
        .flatMap(({ held }) => held)
        .reduce((sum, what) => sum + (what === "end" ? 0 : what.length), 0),
    pointTo(port) {
      target = port;
    },
    heal() {
      faults = { ...healthy };
    },
    async stop() {
      reset();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  atTestEnd(() => proxy.stop());
  return proxy;
}

/** When the client has gone, so have its ears: a reply would only come back as a reset, and that must not end the rest. */
function hold({ held, lost }: Link, what: Buffer | "end"): void {
  held.push(what);
  if (what === "end") lost.replies = true;
}

function give(to: Socket, what: Buffer | "end"): void {
  if (what === "end") to.end();
  else if (to.writable) to.write(what);
}
