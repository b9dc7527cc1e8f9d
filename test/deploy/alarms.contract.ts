import { expect, it } from "vitest";
import { DEFAULT_QUEUE } from "webhook-anvil/queue";
import type { Deployed } from "./configurations.ts";

/** What is watched, and who is told. */
export function alarmsContract({ stage, redis, graph }: Deployed): void {
  const alarm = (name: string) => graph().inputs("aws:cloudwatch/metricAlarm:MetricAlarm", name);
  const dimensions = { Stage: stage, Queue: DEFAULT_QUEUE };

  it("tells one topic what begins and what ends", () => {
    const [topic, ...more] = graph().all("aws:sns/topic:Topic");
    expect(more).toEqual([]);
    const told = graph()
      .all("aws:cloudwatch/metricAlarm:MetricAlarm")
      .filter(({ name }) => name.endsWith("Alarm"));
    expect(told.map(({ name }) => name).sort()).toEqual([
      "DeadLettersAlarm",
      "IngressErrorsAlarm",
      "IngressThrottlesAlarm",
      "OldestWaitingAlarm",
      "PulseMissingAlarm",
      ...(redis === "elasticache" ? ["RedisMemoryAlarm"] : []),
    ]);
    for (const { name, inputs } of told) {
      expect(inputs.name).toBe(`anvil-${stage}-${name}`);
      expect(inputs).toMatchObject({ alarmActions: [topic?.outputs.arn], okActions: [topic?.outputs.arn] });
      expect(inputs.alarmDescription).toMatch(/\S/);
    }
  });

  it("watches for dead letters and for a job that waits too long", () => {
    expect(alarm("DeadLettersAlarm")).toMatchObject({
      ...{ namespace: "Anvil", metricName: "Dead", dimensions, statistic: "Maximum", threshold: 1 },
      comparisonOperator: "GreaterThanOrEqualToThreshold",
    });
    expect(alarm("OldestWaitingAlarm")).toMatchObject({
      ...{
        namespace: "Anvil",
        metricName: "OldestWaitingSeconds",
        dimensions,
        statistic: "Maximum",
        threshold: 300,
      },
      comparisonOperator: "GreaterThanOrEqualToThreshold",
    });
  });

  it("watches the ingress's 5xx answers and refusals", () => {
    const ofIngress = {
      namespace: "AWS/Lambda",
      dimensions: { FunctionName: `anvil-${stage}-ingress` },
      statistic: "Sum",
      period: 300,
    };
    expect(alarm("IngressErrorsAlarm")).toMatchObject({
      ...ofIngress,
      metricName: "Url5xxCount",
      threshold: 5,
    });
    expect(alarm("IngressThrottlesAlarm")).toMatchObject({
      ...ofIngress,
      metricName: "Throttles",
      threshold: 1,
    });
  });

  it("alarms when pulse has been silent for five minutes, not when it has nothing to report", () => {
    expect(alarm("PulseMissingAlarm")).toMatchObject({
      ...{ namespace: "Anvil", metricName: "Waiting", dimensions, statistic: "SampleCount" },
      ...{ period: 60, evaluationPeriods: 5, comparisonOperator: "LessThanThreshold", threshold: 1 },
      treatMissingData: "breaching",
    });
  });
}
