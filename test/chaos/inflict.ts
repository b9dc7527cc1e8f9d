import { setTimeout as delay } from "node:timers/promises";
import type { TcpProxy, TestRedis } from "anvil-testkit";
import type { Redis } from "ioredis";
import type { Fleet } from "./fleet.ts";
import type { Fault, Kill, Line, Trouble } from "./plan.ts";

/** Everything that a fault can touch. */
export interface Stage {
  readonly fleet: Fleet;
  readonly redis: TestRedis;
  /** A connection to Redis that no fault is for. */
  readonly admin: Redis;
  readonly lines: Readonly<Record<Line, TcpProxy>>;
}

/** What went wrong so far, by kind. */
export interface Casualties {
  readonly kills: { total: number; byKind: Record<string, number>; byBoundary: Record<string, number> };
  readonly troubles: Record<string, number>;
}

export interface Wrecker {
  /** Begins a fault; faults of one target wait for each other, and each heals what it broke. */
  inflict(fault: Fault): void;
  /** Begun and not over. */
  pending(): number;
  casualties(): Casualties;
  /** Resolves when every fault is over; rejects with what kept one from being inflicted. */
  over(): Promise<void>;
}

export function startWrecker(stage: Stage): Wrecker {
  const queues = new Map<string, Promise<void>>();
  const failures: unknown[] = [];
  let pending = 0;
  const casualties: Casualties = { kills: { total: 0, byKind: {}, byBoundary: {} }, troubles: {} };

  async function kill(what: Kill): Promise<void> {
    if (what.target === "redis") {
      await stage.redis.kill();
      await delay(what.downMs);
      await stage.redis.restart();
      count(casualties.kills.byBoundary, "anywhere");
    } else {
      const { target, slot, boundary } = what;
      const reached = boundary ? await stage.fleet.killAt(target, slot, boundary) : false;
      if (!boundary) await stage.fleet.kill(target, slot);
      count(casualties.kills.byBoundary, reached && boundary ? boundary : "anywhere");
    }
    count(casualties.kills.byKind, what.target);
    casualties.kills.total += 1;
  }

  async function trouble(what: Trouble): Promise<void> {
    const { fleet, redis, admin } = stage;
    count(casualties.troubles, "target" in what ? `${what.kind} ${what.target}` : what.kind);
    switch (what.kind) {
      case "freeze":
        return fleet.freeze(what.target, what.slot, what.ms);
      case "terminate":
        return fleet.terminate(what.target, what.slot);
      case "freeze redis":
        await redis.pause();
        await delay(what.ms);
        return redis.resume();
      case "redis full":
        await admin.config("SET", "maxmemory", "1mb");
        await delay(what.ms);
        await admin.config("SET", "maxmemory", "0");
        return;
      case "redis read-only":
        // A replica of nobody: it keeps its data and refuses to write.
        await admin.replicaof("127.0.0.1", 1);
        await delay(what.ms);
        await admin.replicaof("NO", "ONE");
        return;
      case "clients killed":
        await admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
        return;
      case "scripts flushed":
        await admin.script("FLUSH");
        return;
      default:
        return network(stage.lines[what.line], what);
    }
  }

  return {
    inflict(fault) {
      const key = queueOf(fault);
      pending += 1;
      const before = queues.get(key) ?? Promise.resolve();
      const current = before
        .then(() => (fault.kill ? kill(fault.kill) : trouble(fault.trouble)))
        .catch((error: unknown) => void failures.push(error))
        .finally(() => {
          pending -= 1;
        });
      queues.set(key, current);
    },
    pending: () => pending,
    casualties: () => casualties,
    async over() {
      await Promise.all(queues.values());
      if (failures.length > 0) throw new AggregateError(failures, "some faults could not be inflicted");
    },
  };
}

type NetworkTrouble = Extract<Trouble, { line: Line }>;

async function network(line: TcpProxy, what: NetworkTrouble): Promise<void> {
  if (what.kind === "connections cut") return line.cut();
  if (what.kind === "replies swallowed") line.swallowReplies();
  if (what.kind === "requests held") line.holdRequests();
  if (what.kind === "black hole") line.blackHole({ newToo: true });
  if (what.kind === "slow") line.roundTrip(200);
  await delay(what.ms);
  if (what.kind === "requests held") line.release();
  line.heal();
  if (what.thenCut) line.cut();
}

/** Faults of one target, one after the other. */
function queueOf({ kill, trouble }: Fault): string {
  if (kill) return kill.target === "redis" ? "redis" : `${kill.target} ${kill.slot}`;
  if ("line" in trouble) return `line ${trouble.line}`;
  return "target" in trouble ? `${trouble.target} ${trouble.slot}` : "redis";
}

function count(into: Record<string, number>, what: string): void {
  into[what] = (into[what] ?? 0) + 1;
}
