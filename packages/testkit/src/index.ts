export { type ProcessEnd, type SpawnNodeOptions, spawnNode, type TestProcess } from "./process.ts";
export { type StartRedisOptions, sharedRedisUrl, startRedis, type TestRedis, uniquePrefix } from "./redis.ts";
export { startRedisCluster, type TestRedisCluster } from "./redis-cluster.ts";
export { startRedisTls, type TestRedisTls } from "./redis-tls.ts";
export { type RestFault, type RestFront, startRestFront } from "./rest-front.ts";
export { type KeySnapshot, snapshotKeys } from "./snapshot-keys.ts";
export { type TemporaryFolder, temporaryFolder } from "./temporary-folder.ts";
export { type WaitUntilOptions, waitUntil } from "./wait-until.ts";
