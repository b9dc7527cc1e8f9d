import { metrics } from "./metrics.ts";
import { queueMetric, type WatchedQueue } from "./queue-metrics.ts";
import type { Settings } from "./settings.ts";

type AlarmArgs = ConstructorParameters<typeof aws.cloudwatch.MetricAlarm>[1];

/** What is watched: each alarm says what happened and what to do, and goes to one topic. */
export function createAlarms(
  settings: Settings,
  {
    queue,
    ingress,
    replicationGroupId,
  }: {
    readonly queue: WatchedQueue;
    readonly ingress: sst.aws.Function;
    readonly replicationGroupId?: $util.Output<string>;
  },
): sst.aws.SnsTopic {
  const topic = new sst.aws.SnsTopic("Alarms");
  if (settings.alarmEmail !== undefined) {
    new aws.sns.TopicSubscription("AlarmsEmail", {
      topic: topic.arn,
      protocol: "email",
      endpoint: settings.alarmEmail,
    });
  }
  const alarm = (
    name: string,
    args: Partial<AlarmArgs> & { readonly alarmDescription: string; readonly threshold: number },
  ) =>
    new aws.cloudwatch.MetricAlarm(name, {
      // What the mail begins with.
      name: `${$app.name}-${$app.stage}-${name}`,
      comparisonOperator: "GreaterThanOrEqualToThreshold",
      statistic: "Maximum",
      period: 60,
      evaluationPeriods: 1,
      treatMissingData: "notBreaching",
      alarmActions: [topic.arn],
      okActions: [topic.arn],
      ...args,
    });
  const ofIngress = {
    namespace: "AWS/Lambda",
    dimensions: { FunctionName: ingress.name },
    statistic: "Sum",
    period: 300,
  };

  alarm("DeadLettersAlarm", {
    ...queueMetric(queue, metrics.dead),
    alarmDescription: "Dead letters wait for a person: npx anvil dead list, then replay or leave them.",
    threshold: settings.alarmDead,
  });
  alarm("OldestWaitingAlarm", {
    ...queueMetric(queue, metrics.oldestWaitingSeconds),
    alarmDescription: "A job has waited too long: are workers running, and are there enough of them?",
    threshold: settings.alarmOldestSeconds,
    evaluationPeriods: 3,
  });
  alarm("IngressErrorsAlarm", {
    ...ofIngress,
    metricName: "Url5xxCount",
    alarmDescription:
      "Deliveries were not stored (5xx); providers send them again. Is Redis up, and is there room in it?",
    threshold: settings.alarm5xx,
  });
  alarm("IngressThrottlesAlarm", {
    ...ofIngress,
    metricName: "Throttles",
    alarmDescription: "Deliveries were refused with 429: the ingress's concurrency is used up.",
    threshold: 1,
  });
  alarm("PulseMissingAlarm", {
    ...queueMetric(queue, metrics.waiting),
    alarmDescription:
      "No metrics for five minutes: nothing is swept, workers don't scale, and no other alarm here works.",
    statistic: "SampleCount",
    comparisonOperator: "LessThanThreshold",
    threshold: 1,
    evaluationPeriods: 5,
    treatMissingData: "breaching",
  });
  if (replicationGroupId) {
    alarm("RedisMemoryAlarm", {
      namespace: "AWS/ElastiCache",
      metricName: "DatabaseMemoryUsagePercentage",
      dimensions: { ReplicationGroupId: replicationGroupId },
      alarmDescription: "Redis fills up; when it is full the ingress answers 503. Take a larger instance.",
      threshold: 75,
      evaluationPeriods: 5,
    });
  }
  return topic;
}
