import { type MetricName, metrics } from "./metrics.ts";
import { queueMetric, type WatchedQueue } from "./queue-metrics.ts";
import type { Settings } from "./settings.ts";

/**
 * Workers scale on what waits, not on CPU: a handler that waits for somebody else's API is idle and still needs
 * company. Pressure is the age of the oldest waiting job or the number of waiting jobs, whichever is larger against
 * its target: at 1 there are more workers, the more the higher it is; below 0.1 for ten minutes, one fewer.
 */
export function scaleWorker(worker: sst.aws.Service, queue: WatchedQueue, settings: Settings): void {
  const target = worker.nodes.autoScalingTarget;
  const policy = (name: string, steps: object) =>
    new aws.appautoscaling.Policy(name, {
      serviceNamespace: target.serviceNamespace,
      scalableDimension: target.scalableDimension,
      resourceId: target.resourceId,
      policyType: "StepScaling",
      stepScalingPolicyConfiguration: { metricAggregationType: "Maximum", ...steps },
    });
  const out = policy("WorkerScaleOut", {
    adjustmentType: "PercentChangeInCapacity",
    minAdjustmentMagnitude: 1,
    cooldown: 120,
    // Bounds count from the alarm's threshold, which is 1.
    stepAdjustments: [
      { metricIntervalLowerBound: "0", metricIntervalUpperBound: "3", scalingAdjustment: 50 },
      { metricIntervalLowerBound: "3", scalingAdjustment: 100 },
    ],
  });
  const back = policy("WorkerScaleIn", {
    adjustmentType: "ChangeInCapacity",
    cooldown: 300,
    stepAdjustments: [{ metricIntervalUpperBound: "0", scalingAdjustment: -1 }],
  });
  new aws.cloudwatch.MetricAlarm("WorkerPressureHigh", {
    name: `${$app.name}-${$app.stage}-WorkerPressureHigh`,
    alarmDescription: "More workers: jobs wait too long, or too many of them",
    comparisonOperator: "GreaterThanOrEqualToThreshold",
    threshold: 1,
    evaluationPeriods: 1,
    metricQueries: pressure(queue, settings),
    // No news from pulse is no reason to change anything; there is an alarm for that.
    treatMissingData: "ignore",
    alarmActions: [out.arn],
  });
  new aws.cloudwatch.MetricAlarm("WorkerPressureLow", {
    name: `${$app.name}-${$app.stage}-WorkerPressureLow`,
    alarmDescription: "Fewer workers: hardly anything has waited for ten minutes",
    comparisonOperator: "LessThanThreshold",
    threshold: 0.1,
    evaluationPeriods: 10,
    metricQueries: pressure(queue, settings),
    treatMissingData: "ignore",
    alarmActions: [back.arn],
  });
}

function pressure(queue: WatchedQueue, { scaleOldestSeconds, scaleWaiting }: Settings) {
  const metric = (id: string, name: MetricName) => ({
    id,
    metric: { ...queueMetric(queue, name), stat: "Maximum", period: 60 },
  });
  return [
    metric("age", metrics.oldestWaitingSeconds),
    metric("depth", metrics.waiting),
    { id: "agePressure", expression: `age / ${scaleOldestSeconds}` },
    { id: "depthPressure", expression: `depth / ${scaleWaiting}` },
    { id: "pressure", expression: "MAX([agePressure, depthPressure])", label: "Pressure", returnData: true },
  ];
}
