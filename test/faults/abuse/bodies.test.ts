import { startRedis, waitUntil } from "anvil-testkit";
import { describe, expect, it } from "vitest";
import { attackers, FALSE_SIGNATURE, head, pour } from "./attackers.ts";
import { BODY_TIMEOUT_MS, startVictim } from "./victim.ts";

/**
 * Whoever can reach the ingress can send it anything. While they do: good deliveries are answered, memory stays
 * inside a bound and comes back, nothing reaches Redis, the log doesn't fill a disk. Linux's account of memory is read.
 */
const signature = `x-signature: ${FALSE_SIGNATURE}`;

// Most of a minute is for a machine that is busy with something else: each takes a few seconds.
describe.skipIf(process.platform !== "linux")("the ingress withstands", { timeout: 60_000 }, () => {
  it("slow bodies: 2,000 connections that send one byte and stop", async () => {
    const victim = await startVictim(await startRedis());
    await victim.withstands(async () => {
      const slow = await attackers(victim.port, 2_000, ({ socket }) =>
        socket.write(`${head([signature, "content-length: 1000"])}{`),
      );
      await waitUntil(() => slow.all.every(({ closed }) => closed()), {
        what: "all of them are closed",
        timeoutMs: BODY_TIMEOUT_MS + 7_000,
      });
      expect(slow.all.filter(({ answer }) => !answer().startsWith("HTTP/1.1 408 "))).toEqual([]);
    }, 250);
  });

  it("endless bodies, at full speed, from 100 connections", async () => {
    const victim = await startVictim(await startRedis());
    const chunk = new Uint8Array([...Buffer.from("10000\r\n"), ...new Uint8Array(0x10000), 13, 10]);
    await victim.withstands(async () => {
      const endless = await attackers(victim.port, 100, ({ socket }) => {
        socket.write(head([signature, "transfer-encoding: chunked"], "/webhooks/large"));
        pour(socket, chunk);
      });
      await waitUntil(() => endless.all.every(({ closed }) => closed()), {
        what: "all of them are closed",
        timeoutMs: 15_000,
      });
      const answers = endless.all.map(({ answer }) => answer().slice(9, 12));
      expect(answers).toContain("503");
      expect(answers.filter((status) => !["503", "413", "408", ""].includes(status))).toEqual([]);
      const refused = endless.all.find(({ answer }) => answer().includes(" 503 "))?.answer();
      expect(refused?.toLowerCase()).toContain("retry-after: ");
    }, 250);
  });

  it("bodies of one-byte chunks, which would take a hundred times their size in a list", async () => {
    const victim = await startVictim(await startRedis());
    const chunks = Buffer.from("1\r\nx\r\n".repeat(10_000));
    await victim.withstands(async () => {
      const tiny = await attackers(victim.port, 20, ({ socket }) => {
        socket.write(head([signature, "transfer-encoding: chunked"]));
        pour(socket, chunks);
      });
      await waitUntil(() => tiny.all.every(({ closed }) => closed()), {
        what: "all of them are closed",
        timeoutMs: BODY_TIMEOUT_MS + 7_000,
      });
    }, 250);
  });
});
