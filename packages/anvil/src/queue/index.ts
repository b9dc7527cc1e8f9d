export { type Cipher, sealedKeyId } from "../contract/cipher.ts";
export type { PastFailure } from "../contract/dead-letter.ts";
export { formatDuration, parseDuration } from "../contract/duration.ts";
export { resolveEncryption } from "../contract/encryption.ts";
export { decodeBody, type Envelope } from "../contract/envelope.ts";
export { isJobId } from "../contract/job-id.ts";
export { DEFAULT_PREFIX, DEFAULT_QUEUE, queueNameProblem } from "../contract/queue-names.ts";
export { logReplay, type ReplayedBy, type ReplayRecord, replayRecord } from "../contract/replay-record.ts";
export { type BuryResult, bury } from "./bury.ts";
export { type Connection, type ConnectionOptions, createConnection } from "./connection.ts";
export { type Deadline, deadlineIn } from "./deadline.ts";
export { type Enqueued, enqueue, type NewJob } from "./enqueue.ts";
export {
  type DeadLetter,
  type DeadLetterSummary,
  type JobState,
  jobState,
  listDead,
  type QueueStats,
  queueStats,
  showDead,
} from "./inspect.ts";
export type { QueuePlace } from "./queue-place.ts";
export type { RedisClient } from "./redis-clients.ts";
export {
  DEFAULT_REDIS_URL,
  describeAddress,
  type RedisAddress,
  type RedisTarget,
  type RedisTargetOptions,
  redisAddress,
  type SentinelOptions,
} from "./redis-target.ts";
export { type Swept, sweep } from "./sweep.ts";
export { type UnburyResult, unbury } from "./unbury.ts";
