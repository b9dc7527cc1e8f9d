import { expect, it } from "vitest";
import { deliveryOf } from "./orders.ts";
import { type Fault, FLEET, fingerprint, planFaults } from "./plan.ts";

const settings = { events: 20_000, kills: 1_000, seed: 7 };
const faults = planFaults(settings);

it("a seed repeats the faults, and another seed makes others", () => {
  expect(planFaults(settings)).toEqual(faults);
  expect(fingerprint(planFaults(settings))).toBe(fingerprint(faults));
  expect(fingerprint(planFaults({ ...settings, seed: 8 }))).not.toBe(fingerprint(faults));
});

it("a seed repeats each delivery, in whatever order they are made", () => {
  const forwards = Array.from({ length: 50 }, (_, n) => deliveryOf(7, n));
  const backwards = Array.from({ length: 50 }, (_, n) => deliveryOf(7, 49 - n)).reverse();
  expect(backwards).toEqual(forwards);
  expect(deliveryOf(8, 3)).not.toEqual(deliveryOf(7, 3));
});

it("as many kills as were asked for, in the order of the events, spread over all of them", () => {
  const kills = faults.filter(({ kill }) => kill);
  expect(kills).toHaveLength(1_000);
  expect(faults.map(({ after }) => after)).toEqual(faults.map(({ after }) => after).sort((a, b) => a - b));
  expect(kills[0]?.after).toBeLessThan(20);
  expect(kills.at(-1)?.after).toBeGreaterThan(19_970);
  expect(planFaults({ events: 10, kills: 0, seed: 1 })).toEqual([]);
});

it("every process is killed, at every boundary that it has, and every trouble happens", () => {
  const processes = new Set<string>();
  const boundaries = new Set<string>();
  const troubles = new Set<string>();
  for (const { kill, trouble } of faults) {
    if (trouble) troubles.add(trouble.kind);
    else if (kill.target === "redis") processes.add("redis");
    else {
      processes.add(`${kill.target} ${kill.slot}`);
      boundaries.add(kill.boundary ?? "anywhere");
    }
  }
  const fleet = Object.entries(FLEET).flatMap(([role, count]) =>
    Array.from({ length: count }, (_, slot) => `${role} ${slot}`),
  );
  expect([...processes].sort()).toEqual([...fleet, "redis"].sort());
  const steps = ["add", "handler-effect", "step", "complete", "retry", "fail", "bury", "sweep", "unbury"];
  expect([...boundaries].sort()).toEqual(
    ["anywhere", ...steps.flatMap((step) => [`before:${step}`, `after:${step}`])].sort(),
  );
  expect([...troubles].sort()).toEqual(
    [
      "black hole",
      "clients killed",
      "connections cut",
      "freeze",
      "freeze redis",
      "redis full",
      "redis read-only",
      "replies swallowed",
      "requests held",
      "scripts flushed",
      "slow",
      "terminate",
    ].sort(),
  );
});

it("an ingress is never frozen for longer than its own deadline leaves of 3 s", () => {
  const freezes = faults.flatMap(({ trouble }: Fault) =>
    trouble?.kind === "freeze" && trouble.target === "ingress" ? [trouble.ms] : [],
  );
  expect(Math.max(...freezes)).toBeLessThan(1_000);
});

it("events of every kind come up: redelivered, forged, refused for a while, refused for good, answer lost", () => {
  const deliveries = Array.from({ length: 2_000 }, (_, n) => deliveryOf(7, n));
  const share = (which: (delivery: ReturnType<typeof deliveryOf>) => boolean) =>
    deliveries.filter(which).length / deliveries.length;
  expect(share(({ twins }) => twins > 0)).toBeGreaterThan(0.1);
  expect(share(({ laterMs }) => laterMs.length > 0)).toBeGreaterThan(0.15);
  expect(share(({ forgery }) => forgery !== "none")).toBeGreaterThan(0.01);
  expect(share(({ order }) => order.refusals > 0 && order.refusals < 5)).toBeGreaterThan(0.05);
  // More than the schedule has runs: only a replay brings these to an end.
  expect(share(({ order }) => order.refusals === 5)).toBeGreaterThan(0.03);
  expect(share(({ order }) => order.declined)).toBeGreaterThan(0.005);
  expect(share(({ order }) => order.answerLost)).toBeGreaterThan(0.02);
  expect(new Set(deliveries.map(({ order }) => order.body)).size).toBe(deliveries.length);
});
