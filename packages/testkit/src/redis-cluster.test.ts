import { Cluster } from "ioredis";
import { expect, it, onTestFinished } from "vitest";
import { startRedisCluster } from "./redis-cluster.ts";

it("three masters serve all slots", async () => {
  const { urls } = await startRedisCluster();
  expect(urls).toHaveLength(3);
  const cluster = new Cluster([...urls]);
  onTestFinished(() => cluster.disconnect());
  // One key on each master: the slots of these lie in the first, second and last third.
  for (const key of ["b", "c", "a"]) await cluster.set(key, key);
  expect(await Promise.all(["b", "c", "a"].map((key) => cluster.get(key)))).toEqual(["b", "c", "a"]);
  const sizes = await Promise.all(cluster.nodes("master").map((node) => node.dbsize()));
  expect(sizes).toEqual([1, 1, 1]);
});

it("a slot is moved with its keys", async () => {
  const cluster = await startRedisCluster();
  const client = new Cluster([...cluster.urls]);
  onTestFinished(() => client.disconnect());
  for (let n = 0; n < 250; n++) await client.set(`{moved}:${n}`, n);
  const from = await cluster.nodeOf("{moved}");
  const to = cluster.nodes.find((node) => node !== from) as (typeof cluster.nodes)[number];
  await cluster.moveSlot("{moved}", to);
  expect(await cluster.nodeOf("{moved}")).toBe(to);
  expect(await client.get("{moved}:249")).toBe("249");
  expect(await client.mget(Array.from({ length: 250 }, (_, n) => `{moved}:${n}`))).not.toContain(null);
});
