import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Deployed } from "./configurations.ts";
import { containerOf, statementsOf } from "./graph.ts";

/** The containers. */
export function workerContract({ stage, production, redis, graph }: Deployed): void {
  const container = () => containerOf(graph());
  const role = (name: string) => graph().inputs("aws:iam/role:Role", name);

  it("builds the worker's image from workers/Dockerfile", () => {
    expect(graph().inputs("docker-build:index:Image", "WorkerImageWorker")).toMatchObject({
      context: { location: expect.stringMatching(/\/checkout$/) },
      dockerfile: { location: expect.stringMatching(/\/checkout\/workers\/Dockerfile$/) },
      target: "worker",
      platforms: ["linux/amd64"],
    });
    expect(readFileSync(new URL("../../.dockerignore", import.meta.url), "utf8").split("\n")).toContain(
      ".sst",
    );
  });

  it("H-47 and H-56: gives it the drain limit, and longer than that before it is killed", () => {
    const drain = container().environment.find(({ name }: { name: string }) => name === "ANVIL_DRAIN").value;
    expect(drain).toBe("25s");
    expect(container().stopTimeout).toBe(60);
    expect(container().linuxParameters.initProcessEnabled).toBe(true);
  });

  it("asks for its health as the image does", () => {
    const dockerfile = readFileSync(new URL("../../workers/Dockerfile", import.meta.url), "utf8");
    const worker = dockerfile.slice(dockerfile.indexOf(" AS worker"));
    const [, command = ""] = /HEALTHCHECK[^[]*CMD (\[.*\])/.exec(worker) ?? [];
    expect(container().healthCheck.command).toEqual(["CMD", ...JSON.parse(command)]);
    expect(container().healthCheck).toMatchObject({ interval: 30, timeout: 5, retries: 3, startPeriod: 30 });
  });

  it("opens no port, writes no file of its own and takes no visitors", () => {
    expect(container()).toMatchObject({
      readonlyRootFilesystem: true,
      pseudoTerminal: false,
      portMappings: [],
    });
    expect(graph().inputs("aws:ecs/service:Service", "WorkerService")).toMatchObject({
      enableExecuteCommand: false,
      loadBalancers: [],
    });
  });

  it(`runs on demand up to its minimum, mostly on spot above it`, () => {
    expect(graph().inputs("aws:ecs/service:Service", "WorkerService").capacityProviderStrategies).toEqual([
      { capacityProvider: "FARGATE", base: production ? 2 : 1, weight: 1 },
      { capacityProvider: "FARGATE_SPOT", weight: 4 },
    ]);
    expect(graph().inputs("aws:ecs/taskDefinition:TaskDefinition", "WorkerTask")).toMatchObject({
      requiresCompatibilities: ["FARGATE"],
      cpu: production ? "512" : "256",
      memory: production ? "1024" : "512",
    });
  });

  it("never has fewer than one, and leaves their number to the scaling", () => {
    expect(graph().inputs("aws:appautoscaling/target:Target", "WorkerAutoScalingTarget")).toMatchObject({
      minCapacity: production ? 2 : 1,
      maxCapacity: production ? 20 : 2,
      scalableDimension: "ecs:service:DesiredCount",
    });
    const [service] = graph().all("aws:ecs/service:Service");
    expect(service?.options.ignoreChanges).toContain("desiredCount");
  });

  it("scales on the age and the depth of the queue, and on nothing else", () => {
    const policies = graph().all("aws:appautoscaling/policy:Policy");
    expect(policies.map(({ name, inputs }) => [name, inputs.policyType])).toEqual([
      ["WorkerScaleIn", "StepScaling"],
      ["WorkerScaleOut", "StepScaling"],
    ]);
    const adjustments = policies.map(({ inputs }) =>
      inputs.stepScalingPolicyConfiguration.stepAdjustments.map(
        (step: { scalingAdjustment: number }) => step.scalingAdjustment,
      ),
    );
    expect(adjustments).toEqual([[-1], [50, 100]]);

    const [back, out] = policies;
    for (const [name, alarm] of [
      [
        "WorkerPressureHigh",
        {
          alarmActions: [out?.outputs.arn],
          comparisonOperator: "GreaterThanOrEqualToThreshold",
          threshold: 1,
        },
      ],
      [
        "WorkerPressureLow",
        { alarmActions: [back?.outputs.arn], comparisonOperator: "LessThanThreshold", threshold: 0.1 },
      ],
    ] as const) {
      const inputs = graph().inputs("aws:cloudwatch/metricAlarm:MetricAlarm", name);
      expect(inputs).toMatchObject({ ...alarm, treatMissingData: "ignore" });
      const dimensions = { Stage: stage, Queue: "webhooks" };
      expect(inputs.metricQueries).toEqual([
        {
          id: "age",
          metric: {
            namespace: "Anvil",
            metricName: "OldestWaitingSeconds",
            dimensions,
            stat: "Maximum",
            period: 60,
          },
        },
        {
          id: "depth",
          metric: { namespace: "Anvil", metricName: "Waiting", dimensions, stat: "Maximum", period: 60 },
        },
        { id: "agePressure", expression: "age / 30" },
        { id: "depthPressure", expression: "depth / 500" },
        {
          id: "pressure",
          expression: "MAX([agePressure, depthPressure])",
          label: "Pressure",
          returnData: true,
        },
      ]);
    }
  });

  it("gets REDIS_URL from an encrypted parameter, and starts anew when that changes", () => {
    const parameter = graph().inputs("aws:ssm/parameter:Parameter", "RedisUrlParameter");
    expect(parameter).toMatchObject({ name: `/anvil/${stage}/redis-url`, type: "SecureString" });
    expect(parameter.value).toMatch(
      redis === "elasticache"
        ? /^rediss:\/\/default:%26%23\w{29}%3E@master\.[^/@]+:6379$/
        : /^rediss:\/\/default:made-up-password@127\.0\.0\.1:1$/,
    );
    expect(container().secrets).toEqual([
      { name: "REDIS_URL", valueFrom: expect.stringMatching(`:parameter/anvil/${stage}/redis-url$`) },
    ]);
    expect(container().environment).toContainEqual({ name: "ANVIL_REDIS_URL_VERSION", value: "1" });
  });

  it("has roles that trust the container service alone: its own may nothing, the starter's reads that parameter", () => {
    for (const name of ["WorkerTaskRole", "WorkerExecutionRole"]) {
      expect(role(name).assumeRolePolicy.Statement).toEqual([
        expect.objectContaining({ Effect: "Allow", Principal: { Service: "ecs-tasks.amazonaws.com" } }),
      ]);
    }
    expect(role("WorkerTaskRole").inlinePolicies).toEqual([]);
    expect(role("WorkerTaskRole")).not.toHaveProperty("managedPolicyArns");
    expect(statementsOf(role("WorkerExecutionRole"))).toEqual([
      {
        Effect: "Allow",
        Action: ["ssm:GetParameters"],
        Resource: [expect.stringMatching(`:parameter/anvil/${stage}/redis-url$`)],
      },
    ]);
  });

  it("keeps its logs as long as the functions'", () => {
    expect(graph().inputs("aws:cloudwatch/logGroup:LogGroup", "WorkerLogGroupWorker").retentionInDays).toBe(
      production ? 90 : 7,
    );
  });
}
