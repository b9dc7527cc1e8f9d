import { createHmac } from "node:crypto";
import { freePort } from "anvil-bootstrap/free-port";
import { spawnNode, startRedis } from "anvil-testkit";
import { expect, it } from "vitest";
import { silentLog } from "webhook-anvil";
import { createServer } from "webhook-anvil/ingress";

it("handles an event, answers its health check, and exits 0 on SIGTERM", async () => {
  const redis = await startRedis();
  const port = await freePort();
  const worker = spawnNode({
    entry: "workers/main.ts",
    env: { REDIS_URL: redis.url, HEALTH_PORT: String(port), ANVIL_DRAIN: "5s" },
  });
  await worker.waitForLine(/"message":"working"/);
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);

  const secret = "made-up-secret-of-the-tests";
  const app = createServer({ secret, redis: redis.url, log: silentLog });
  const body = '{"type":"order.paid"}';
  const headers = { "x-signature": createHmac("sha256", secret).update(body).digest("hex") };
  const answer = await app.request("/webhooks", { method: "POST", body, headers });
  const { jobId } = (await answer.json()) as { jobId: string };
  await app.close();
  await worker.waitForLine(new RegExp(`"message":"handled","jobId":"${jobId}"`));
  expect(await worker.kill("SIGTERM")).toEqual({ code: 0, signal: null });
});

it("says in one line what is missing, and exits 1", async () => {
  const worker = spawnNode({ entry: "workers/main.ts", env: { REDIS_URL: undefined } });
  expect((await worker.exited).code).toBe(1);
  const lines = worker.stderr().trim().split("\n");
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("REDIS_URL is not set");
});
