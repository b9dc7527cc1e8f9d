import { connect } from "node:net";
import { startRedis, waitUntil } from "anvil-testkit";
import { describe, expect, it, onTestFinished } from "vitest";
import { attackers } from "./attackers.ts";
import { startVictim } from "./victim.ts";

/**
 * Whoever can reach the ingress can send it anything. While they do: good deliveries are answered, memory stays
 * inside a bound and comes back, nothing reaches Redis, the log doesn't fill a disk. Linux's account of memory is read.
 */
// Most of a minute is for a machine that is busy with something else: each takes a few seconds.
describe.skipIf(process.platform !== "linux")("the ingress withstands", { timeout: 60_000 }, () => {
  it("10,000 idle connections, and closes those that never say a word", async () => {
    const victim = await startVictim(await startRedis());
    const first = connect(victim.port, "127.0.0.1");
    onTestFinished(() => void first.destroy());
    let closed = false;
    first.on("close", () => {
      closed = true;
    });
    first.on("error", () => {});
    first.resume();
    const openedAt = performance.now();
    await victim.withstands(async () => {
      const idle = await attackers(victim.port, 10_000);
      await waitUntil(() => closed, { what: "the first of them is closed", timeoutMs: 14_000 });
      idle.leave();
    }, 250);
    expect(performance.now() - openedAt).toBeGreaterThan(5_000);
  });
});
