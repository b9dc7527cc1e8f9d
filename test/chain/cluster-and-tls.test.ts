import { createHmac } from "node:crypto";
import { startRedisCluster, startRedisTls, uniquePrefix, waitUntil } from "anvil-testkit";
import { Cluster, Redis } from "ioredis";
import { expect, it } from "vitest";
import { silentLog } from "webhook-anvil";
import { createServer } from "webhook-anvil/ingress";
import { jobState, queueStats, type RedisClient, type RedisTarget, showDead } from "webhook-anvil/queue";
import { replayDeadLetter } from "webhook-anvil/replay";
import { createWorker } from "webhook-anvil/worker";

const SECRET = "made-up-secret-of-the-tests";

/** Deliver, retry, bury, replay, handle: the path of an event with everything in it. */
async function wholePath(redis: RedisTarget, client: RedisClient): Promise<void> {
  const place = { prefix: uniquePrefix() };
  const app = createServer({ secret: SECRET, redis, ...place, retry: { schedule: [50] }, log: silentLog });
  let healthy = false;
  const worker = createWorker(
    () => {
      if (!healthy) throw new Error("boom");
    },
    { redis, ...place, log: silentLog },
  );
  try {
    await worker.start();
    const send = async () => {
      const answer = await app.request("/webhooks", {
        method: "POST",
        body: "{}",
        headers: { "x-signature": createHmac("sha256", SECRET).update("{}").digest("hex") },
      });
      expect(answer.status).toBe(202);
      return (await answer.json()) as { jobId: string; replayed: boolean };
    };
    const { jobId } = await send();
    expect(await send()).toEqual({ jobId, replayed: true });
    const letter = await waitUntil(() => showDead(client, place, jobId), { what: "it is a dead letter" });
    expect(letter.failureContext).toMatchObject({ attempts: 2, reason: "exhausted" });
    healthy = true;
    expect(await replayDeadLetter(jobId, { redis, ...place, log: silentLog })).toEqual({
      replayed: true,
      jobId,
    });
    await waitUntil(async () => (await jobState(client, place, jobId)) === "completed", {
      what: "it is done",
    });
    expect(await queueStats(client, place, Date.now())).toMatchObject({ waiting: 0, dead: 0, completed: 1 });
    expect((await app.request("/readyz")).status).toBe(200);
  } finally {
    await worker.close();
    await app.close();
    client.disconnect();
  }
}

it("H-54: the whole path on a cluster of three, by either way to name it", async () => {
  const cluster = await startRedisCluster();
  const url = cluster.urls.join(",");
  const nodes = cluster.urls.map((each) => ({ host: "127.0.0.1", port: Number(new URL(each).port) }));
  await wholePath(url, new Cluster(nodes));
  await wholePath(`${cluster.urls[0]}?cluster=true`, new Cluster(nodes));
}, 60_000);

it("the whole path over TLS, with a CA of its own", async () => {
  const tls = await startRedisTls();
  const redis = { url: tls.url, tls: { ca: tls.ca } };
  await wholePath(redis, new Redis(tls.url, { tls: { ca: tls.ca } }));
});

it("a server whose certificate isn't trusted takes no event", async () => {
  const tls = await startRedisTls();
  const app = createServer({ secret: SECRET, redis: tls.url, deadlineMs: 500, log: silentLog });
  const answer = await app.request("/readyz");
  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain("certificate");
  await app.close();
});
