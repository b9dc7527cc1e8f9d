import { Redis } from "ioredis";
import { expect, it, onTestFinished } from "vitest";
import { startRedisTls } from "./redis-tls.ts";

it("speaks TLS to a client that trusts its CA, and to no other", async () => {
  const { url, ca } = await startRedisTls();
  const trusting = new Redis(url, { tls: { ca } });
  onTestFinished(() => trusting.disconnect());
  expect(await trusting.ping()).toBe("PONG");

  const stranger = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  const refusal = new Promise<Error>((resolve) => stranger.once("error", resolve));
  await expect(stranger.connect()).rejects.toThrow();
  expect((await refusal).message).toMatch(/certificate/);
});
