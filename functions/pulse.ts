import {
  METRICS_NAMESPACE,
  type MetricDimensions,
  type MetricName,
  metrics,
  STAGE_VARIABLE,
} from "anvil-deploy/metrics";
import { redisUrlFrom } from "webhook-anvil/config";
import {
  createConnection,
  DEFAULT_QUEUE,
  deadlineIn,
  logReplay,
  type QueueStats,
  queueStats,
  sweep,
} from "webhook-anvil/queue";
import config from "../anvil.config.ts";
import { functionEnvironment } from "./environment.ts";
import { lambdaLog } from "./lambda-log.ts";

/** Well below the minute after which the next one starts. */
const DEADLINE_MS = 20_000;
/** Kept of the time that Lambda gives, to end in order. */
const RESERVE_MS = 5_000;

type PulseContext = { getRemainingTimeInMillis(): number };

/**
 * Every minute: buries what a crashed worker left behind, then publishes depth and age of the queue. The metrics are
 * one line of log, in CloudWatch's embedded metric format: no call to AWS, no permission.
 * @throws {AnvilError} when Redis doesn't answer; then there are no metrics, and the alarm on their absence tells
 */
export async function handler(_event: unknown, context: PulseContext): Promise<void> {
  const env = functionEnvironment(config, process.env);
  const deadlineMs = Math.min(DEADLINE_MS, context.getRemainingTimeInMillis() - RESERVE_MS);
  const connection = createConnection({
    redis: redisUrlFrom(env),
    name: "anvil-pulse",
    deadlineMs,
    log: lambdaLog,
  });
  try {
    const deadline = deadlineIn(deadlineMs);
    const swept = await connection.run(deadline, (client) =>
      sweep(client, config, (jobId, record) => logReplay(lambdaLog, jobId, record)),
    );
    if (swept.buried + swept.retried > 0) lambdaLog.info(swept, "swept what a worker left behind");
    const stats = await connection.run(deadline, (client) => queueStats(client, config, Date.now()));
    const dimensions = { Stage: env[STAGE_VARIABLE] ?? "none", Queue: config.queue ?? DEFAULT_QUEUE };
    // Not by console: under Lambda's JSON format that wraps each line, and CloudWatch would see no metrics in it.
    process.stdout.write(`${JSON.stringify(embeddedMetrics(stats, dimensions, Date.now()))}\n`);
  } finally {
    await connection.close();
  }
}

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html */
export function embeddedMetrics(stats: QueueStats, dimensions: MetricDimensions, nowMs: number): object {
  const values: Record<MetricName, number> = {
    [metrics.oldestWaitingSeconds]: stats.oldestWaitingMs / 1_000,
    [metrics.waiting]: stats.waiting,
    [metrics.active]: stats.active,
    [metrics.delayed]: stats.delayed,
    [metrics.dead]: stats.dead,
    [metrics.unburied]: stats.unburied,
  };
  return {
    _aws: {
      Timestamp: nowMs,
      CloudWatchMetrics: [
        {
          Namespace: METRICS_NAMESPACE,
          Dimensions: [Object.keys(dimensions)],
          Metrics: Object.keys(values).map((Name) => ({
            Name,
            Unit: Name === metrics.oldestWaitingSeconds ? "Seconds" : "Count",
          })),
        },
      ],
    },
    ...dimensions,
    ...values,
  };
}
