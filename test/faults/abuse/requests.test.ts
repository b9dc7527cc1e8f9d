import { setTimeout as delay } from "node:timers/promises";
import { startRedis, waitUntil } from "anvil-testkit";
import { describe, expect, it } from "vitest";
import { attackers, FALSE_SIGNATURE, head, pour } from "./attackers.ts";
import { startVictim } from "./victim.ts";

/**
 * Whoever can reach the ingress can send it anything. While they do: good deliveries are answered, memory stays
 * inside a bound and comes back, nothing reaches Redis, the log doesn't fill a disk. Linux's account of memory is read.
 */
const signature = `x-signature: ${FALSE_SIGNATURE}`;

// Most of a minute is for a machine that is busy with something else: each takes a few seconds.
describe.skipIf(process.platform !== "linux")("the ingress withstands", { timeout: 60_000 }, () => {
  it("header floods: too large, too many, repeated, a hundred thousand signatures in one", async () => {
    const victim = await startVictim(await startRedis());
    const floods: readonly [string, readonly string[], RegExp][] = [
      ["20 kB in one header", [`x-large: ${"x".repeat(20_000)}`], /^HTTP\/1\.1 431 /],
      ["3,000 headers", Array.from({ length: 3_000 }, () => "a:"), /^HTTP\/1\.1 4(01|31) /],
      ["100 signature headers", Array.from({ length: 100 }, () => signature), /^HTTP\/1\.1 401 /],
      ["100,000 signatures in one", [`x-signature: ${"v1=00,".repeat(100_000)}`], /^HTTP\/1\.1 431 /],
      ["1,000 signatures in one", [`x-signature: ${"v1=00,".repeat(1_000)}`], /^HTTP\/1\.1 401 /],
    ];
    await victim.withstands(async () => {
      for (const [what, headers, expected] of floods) {
        const flood = await attackers(victim.port, 300, ({ socket }) => {
          socket.write(head([...headers, "content-length: 2"]));
          socket.write("{}");
        });
        await waitUntil(() => flood.all.every(({ answer, closed }) => answer() !== "" || closed()), {
          what: `all are answered: ${what}`,
        });
        // A connection that is closed while its headers still come may lose its answer on the way.
        const answers = flood.all.map(({ answer }) => answer()).filter((answer) => answer !== "");
        expect(answers.length, what).toBeGreaterThan(0);
        expect(answers.filter((answer) => !expected.test(answer)).slice(0, 3), what).toEqual([]);
        flood.leave();
      }
    }, 250);
  });

  it("a flood of false signatures, as many as fifty connections make in 3 s", async () => {
    const victim = await startVictim(await startRedis());
    const request = `${head([signature, "content-length: 2"])}{}`;
    let answered = 0;
    await victim.withstands(async () => {
      const flood = await attackers(victim.port, 50, ({ socket }) => {
        socket.on("data", (bytes) => {
          answered += bytes.toString("latin1").split("HTTP/1.1 401 ").length - 1;
          socket.write(request);
        });
        socket.write(request);
      });
      await delay(3_000);
      flood.leave();
    }, 250);
    expect(answered).toBeGreaterThan(200);
    const lines = victim
      .log()
      .split("\n")
      .filter((line) => line.includes("signature refused"));
    expect(lines.length).toBe(20);
  });

  it("requests piled up on their connections, answered or not", async () => {
    const victim = await startVictim(await startRedis());
    const pile = Buffer.from(`${head([signature, "content-length: 2"])}{}`.repeat(500));
    await victim.withstands(async () => {
      const deadline = performance.now() + 2_000;
      while (performance.now() < deadline) {
        const flood = await attackers(victim.port, 50, ({ socket }) => pour(socket, pile));
        await waitUntil(() => flood.all.every(({ closed }) => closed()), { what: "all of them are closed" });
      }
    }, 250);
  });
});
