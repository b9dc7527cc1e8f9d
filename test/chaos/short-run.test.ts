import { spawnNode } from "anvil-testkit";
import { expect, it } from "vitest";
import type { ChaosReport } from "./report.ts";

/** The short run: about two minutes of the same that the long one does for half an hour. */
const EVENTS = 1_500;
const KILLS = 100;
const SEED = 20_261_201;

it("nothing is lost or doubled, and no answer is late, while everything is killed", async () => {
  const chaos = spawnNode({
    entry: "test/chaos/main.ts",
    args: ["--events", String(EVENTS), "--kills", String(KILLS), "--seed", String(SEED), "--json"],
  });
  const { code } = await chaos.exited;
  expect(chaos.stdout(), chaos.stderr()).toMatch(/^\{/);
  const report = JSON.parse(chaos.stdout()) as ChaosReport;
  expect(report).toMatchObject({
    events: EVENTS,
    seed: SEED,
    accepted: EVENTS,
    givenUp: 0,
    waiting: 0,
    lost: 0,
    doubled: 0,
    altered: 0,
    forged: 0,
    repeatedSteps: 0,
    crashes: 0,
    findings: [],
  });
  expect(report.done + report.dead).toBe(EVENTS);
  expect(report.duplicates).toBeGreaterThan(EVENTS / 10);
  expect(report.kills.total).toBe(KILLS);
  expect(Object.keys(report.kills.byKind).sort()).toEqual(["ingress", "redis", "replayer", "worker"]);
  // Kills in the middle of the protocol and not only beside it.
  expect(Object.keys(report.kills.byBoundary).length).toBeGreaterThan(8);
  expect(report.slowestMs, report.slowest).toBeLessThan(3_000);
  expect(code).toBe(0);
}, 420_000);
