import { startRedis } from "anvil-testkit";
import { describe, expect, it } from "vitest";
import type { Log } from "webhook-anvil";
import { startTrouble } from "./stream.ts";

function logged(): { log: Log; warnings: string[] } {
  const warnings: string[] = [];
  const warn = (_: object, message: string) => warnings.push(message);
  return { warnings, log: { info() {}, warn, error: warn } };
}

const denied = ["--user", "limited", "on", ">made-up", "~*", "&*", "+@all", "-config", "-info"];

describe("H-49: a Redis that may delete what it has confirmed", () => {
  for (const [what, args, message] of [
    ["allkeys-lru", ["--maxmemory-policy", "allkeys-lru"], "maxmemory-policy is allkeys-lru"],
    ["volatile-lru", ["--maxmemory-policy", "volatile-lru"], "maxmemory-policy is volatile-lru"],
    [
      "CONFIG denied",
      denied.slice(0, -1).concat("--maxmemory-policy", "allkeys-lru"),
      "maxmemory-policy is allkeys-lru",
    ],
    ["CONFIG and INFO denied", denied, "maxmemory-policy can't be read"],
  ] as const) {
    it(`${what}: worker and ingress say so when they start, health reports it, and both work`, async () => {
      const redis = await startRedis({ args });
      const url = (args as readonly string[]).includes("limited")
        ? redis.url.replace("//", "//limited:made-up@")
        : redis.url;
      const ingress = logged();
      const worker = logged();
      const trouble = startTrouble(url, { log: ingress.log });
      await trouble.work({ log: worker.log });
      for (let round = 0; round < 2; round++) {
        const answer = await trouble.app.request("/readyz");
        expect(answer.status).toBe(200);
        expect(await answer.json()).toEqual({ ok: true, warnings: [expect.stringContaining(message)] });
      }
      await trouble.accept("event");
      await expect.poll(() => trouble.effects.get("event")).toBe(1);
      expect(ingress.warnings).toEqual([expect.stringContaining(message)]);
      expect(worker.warnings).toEqual([expect.stringContaining(message)]);
    });
  }

  it("with noeviction nobody warns", async () => {
    const redis = await startRedis();
    const ingress = logged();
    const worker = logged();
    const trouble = startTrouble(redis.url, { log: ingress.log });
    await trouble.work({ log: worker.log });
    expect(await (await trouble.app.request("/readyz")).json()).toEqual({ ok: true });
    await trouble.accept("event");
    await expect.poll(() => trouble.effects.get("event")).toBe(1);
    expect([...ingress.warnings, ...worker.warnings]).toEqual([]);
  });
});
