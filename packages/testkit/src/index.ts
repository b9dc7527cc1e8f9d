export {
  type Accountant,
  type Balance,
  type Heard,
  keepBooks,
  type Ledger,
  type Sent,
} from "./accountant.ts";
export { findServerWithWaitaof, type NewerServer } from "./newer-server.ts";
export { type SpawnNodeOptions, spawnNode } from "./process.ts";
export { type StartRedisOptions, sharedRedisUrl, startRedis, type TestRedis, uniquePrefix } from "./redis.ts";
export { startRedisCluster, type TestRedisCluster } from "./redis-cluster.ts";
export {
  type StartRedisReplicasOptions,
  startRedisReplicas,
  type TestRedisReplicas,
} from "./redis-replicas.ts";
export { startSentinels, type TestSentinel, type TestSentinels } from "./redis-sentinels.ts";
export { startRedisTls, type TestRedisTls } from "./redis-tls.ts";
export { type RestFault, type RestFront, startRestFront } from "./rest-front.ts";
export { type KeySnapshot, snapshotKeys } from "./snapshot-keys.ts";
export { type Jitter, startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";
export { type TemporaryFolder, temporaryFolder } from "./temporary-folder.ts";
export { type WaitUntilOptions, waitUntil } from "./wait-until.ts";
export { type ProcessEnd, type TestProcess, watchProcess } from "./watched-process.ts";
