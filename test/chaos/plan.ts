import { createHash } from "node:crypto";
import { dice } from "./chance.ts";

/** Which processes run, and how many of each. */
export const FLEET = { ingress: 2, worker: 3, replayer: 1 } as const;
export type Role = keyof typeof FLEET;

/** Where a process can be killed, beside any moment: just before, or just after, a step of the protocol. */
export type Boundary = `${"before" | "after"}:${string}`;

const BOUNDARIES: Readonly<Record<Role, readonly Boundary[]>> = {
  ingress: ["before:add", "after:add"],
  worker: [
    "before:handler-effect",
    "after:handler-effect",
    "before:step",
    "after:step",
    "before:complete",
    "after:complete",
    "before:retry",
    "after:retry",
    "before:fail",
    "after:fail",
    "before:bury",
    "after:bury",
    "before:sweep",
    "after:sweep",
  ],
  replayer: ["before:unbury", "after:unbury"],
};

/** A kill ends a process with SIGKILL, or Redis; without a boundary, wherever it happens to be. */
export type Kill =
  | { readonly target: Role; readonly slot: number; readonly boundary?: Boundary }
  | { readonly target: "redis"; readonly downMs: number };

/** Everything else that goes wrong, and heals by itself after `ms`. */
export type Trouble =
  | { readonly kind: "freeze"; readonly target: Role; readonly slot: number; readonly ms: number }
  | { readonly kind: "terminate"; readonly target: Role; readonly slot: number }
  | { readonly kind: "freeze redis" | "redis full" | "redis read-only"; readonly ms: number }
  | { readonly kind: "clients killed" | "scripts flushed" }
  | { readonly kind: "connections cut"; readonly line: Line }
  | {
      readonly kind: "replies swallowed" | "requests held" | "black hole" | "slow";
      readonly line: Line;
      readonly ms: number;
      /** What is open then is broken at last, as by a router that has forgotten it; else it stays as it is, dead. */
      readonly thenCut: boolean;
    };

/** Who a network fault is for: the way to Redis of the ingress, or of workers and replayers. */
export type Line = "ingress" | "worker";

/** One thing that goes wrong, once so many events were sent for the first time. */
export type Fault = { readonly after: number } & (
  | { readonly kill: Kill; readonly trouble?: never }
  | { readonly trouble: Trouble; readonly kill?: never }
);

/**
 * The faults of a run, in their order: a function of its arguments, so that a seed repeats them. Two faults in three
 * are kills; they are spread evenly over the events, the first after a few, so that all is well at first.
 */
export function planFaults(options: { events: number; kills: number; seed: number }): readonly Fault[] {
  const random = dice(options.seed).fork();
  const faults: Fault[] = [];
  for (let n = 0; n < options.kills; n++) {
    const after = Math.floor(((n + 0.5) / options.kills) * options.events);
    faults.push({ after, kill: planKill(random) });
    if (n % 2 === 0)
      faults.push({ after: Math.min(options.events, after + 1), trouble: planTrouble(random) });
  }
  return faults;
}

/** Tells two schedules apart at a glance. */
export function fingerprint(faults: readonly Fault[]): string {
  return createHash("sha256").update(JSON.stringify(faults)).digest("hex").slice(0, 16);
}

type Random = ReturnType<typeof dice>;

function planKill(random: Random): Kill {
  if (random.percent(6)) return { target: "redis", downMs: random.between(50, 900) };
  const target = random.pick<Role>([
    "ingress",
    "ingress",
    "worker",
    "worker",
    "worker",
    "worker",
    "replayer",
  ]);
  const slot = random.between(0, FLEET[target] - 1);
  return random.percent(60) ? { target, slot, boundary: random.pick(BOUNDARIES[target]) } : { target, slot };
}

function planTrouble(random: Random): Trouble {
  const line = random.pick<Line>(["ingress", "worker"]);
  const thenCut = random.percent(70);
  switch (random.between(1, 12)) {
    case 1:
      // Longer than its lock.
      return { kind: "freeze", target: "worker", slot: random.between(0, FLEET.worker - 1), ms: 2_500 };
    case 2:
      // What is added to the ingress's own 2 s must stay below 3 s.
      return { kind: "freeze", target: "ingress", slot: random.between(0, FLEET.ingress - 1), ms: 500 };
    case 3:
      return { kind: "terminate", target: "worker", slot: random.between(0, FLEET.worker - 1) };
    case 4:
      return { kind: "terminate", target: "ingress", slot: random.between(0, FLEET.ingress - 1) };
    case 5:
      return { kind: "freeze redis", ms: random.between(100, 2_500) };
    case 6:
      return { kind: random.pick(["redis full", "redis read-only"] as const), ms: random.between(100, 800) };
    case 7:
      return { kind: "clients killed" };
    case 8:
      return { kind: "scripts flushed" };
    case 9:
      return { kind: "connections cut", line };
    case 10:
      return { kind: "replies swallowed", line, ms: random.between(50, 1_500), thenCut };
    case 11:
      return {
        kind: random.pick(["requests held", "slow"] as const),
        line,
        ms: random.between(50, 1_500),
        thenCut,
      };
    default:
      return { kind: "black hole", line, ms: random.between(50, 1_500), thenCut };
  }
}
