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
