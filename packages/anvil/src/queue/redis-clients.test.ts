import {
  startRedis,
  startRedisCluster,
  startRedisReplicas,
  startSentinels,
  type TestRedis,
  type TestSentinel,
  waitUntil,
} from "anvil-testkit";
import { Cluster, Redis } from "ioredis";
import { expect, it, onTestFinished } from "vitest";
import { patientClient, type RedisClient } from "./redis-clients.ts";
import { redisAddress } from "./redis-target.ts";

function opened<T extends RedisClient>(client: T): T {
  client.on("error", () => {});
  onTestFinished(() => client.disconnect());
  return client;
}

it("a worker's client to a cluster that is partly down connects, or BullMQ would wait for it for ever", async () => {
  const cluster = await startRedisCluster();
  const [left, lost] = cluster.nodes as [TestRedis, TestRedis];
  await lost.kill();
  const asked = opened(new Redis(left.url));
  await waitUntil(async () => String(await asked.cluster("INFO")).includes("cluster_state:fail"), {
    what: "the cluster says that it is down",
    timeoutMs: 10_000,
  });
  const client = opened(patientClient(redisAddress(cluster.urls.join(",")), "anvil-test")) as Cluster;
  const duplicate = opened(client.duplicate(undefined, { lazyConnect: true }));
  let connected = false;
  void duplicate.connect().then(() => {
    connected = true;
  });
  await waitUntil(() => connected, { what: "connect() settles" });
});

it("the duplicate on which BullMQ blocks may be silent for longer, on one server and on a cluster", async () => {
  const redis = await startRedis();
  const single = opened(patientClient(redisAddress(redis.url), "anvil-test")) as Redis;
  expect(single.options.socketTimeout).toBeLessThan(10_000);
  expect(opened(single.duplicate({ connectionName: "blocking" })).options).toMatchObject({
    connectionName: "blocking",
    socketTimeout: 15_000,
  });
  const url = `${redis.url}?cluster=true`;
  const cluster = opened(patientClient(redisAddress(url), "anvil-test")) as Cluster;
  // As BullMQ does it: all that the client has, and a name.
  const redisOptions = { ...cluster.options.redisOptions, connectionName: "blocking" };
  const duplicate = opened(cluster.duplicate(undefined, { redisOptions } as never));
  expect(duplicate).toBeInstanceOf(Cluster);
  expect(duplicate.options.redisOptions).toMatchObject({
    connectionName: "blocking",
    socketTimeout: 15_000,
  });
});

it("a client that is disconnected between two tries at its primary listens to the sentinels no more", async () => {
  const group = await startRedisReplicas();
  const sentinels = await startSentinels(group);
  const client = opened(patientClient(redisAddress(sentinels.url), "anvil-test"));
  const [{ port }] = sentinels.sentinels as readonly TestSentinel[] as [TestSentinel];
  const sentinel = opened(new Redis({ port }));
  const watching = async () => String(await sentinel.client("LIST")).includes("name=anvil-failover-watch");
  await waitUntil(watching, { what: "the client listens to the sentinel" });
  await Promise.all(group.nodes.map((node) => node.kill()));
  await waitUntil(
    () => {
      // In the same turn, or it is on its way again.
      if (client.status !== "reconnecting") return false;
      client.disconnect();
      return true;
    },
    { what: "the client waits for its next try", intervalMs: 1 },
  );
  await waitUntil(async () => !(await watching()), { what: "it listens no more" });
});
