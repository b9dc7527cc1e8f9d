export {
  type AnvilConfig,
  DEFAULT_BODY_LIMIT,
  DEFAULT_DEADLINE_MS,
  DEFAULT_DEDUPE_MS,
  type Durability,
  type EncryptionConfig,
  type EnvRef,
  env,
  type RetryConfig,
  type Secret,
  type SourceConfig,
  type SourceLimits,
} from "./config.ts";
export type { DeadReason, FailureContext, PastFailure } from "./dead-letter.ts";
export { formatDuration, parseDuration } from "./duration.ts";
export { decodeBody, type Envelope } from "./envelope.ts";
export { type Environment, redisUrlFrom } from "./environment.ts";
export { AnvilError, type AnvilErrorCode, ConfigError } from "./errors.ts";
export { eventKey, type Identity, signatureBodyIdentity } from "./event-key.ts";
export { RetryAfter, Unrecoverable } from "./handler-errors.ts";
export { consoleLog, type Log, type LogFields, silentLog } from "./log.ts";
export { DEFAULT_PREFIX, DEFAULT_QUEUE, deadQueueName } from "./queue-names.ts";
export type { ReplayedBy, ReplayRecord } from "./replay-record.ts";
export {
  DEFAULT_RETRY_SCHEDULE,
  formatRetrySchedule,
  parseRetrySchedule,
  type RetrySchedule,
} from "./retry-schedule.ts";
