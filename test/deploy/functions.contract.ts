import { expect, it } from "vitest";
import type { Deployed } from "./configurations.ts";
import { type Inputs, statementsOf } from "./graph.ts";

const NAMES = ["Ingress", "Replay", "Pulse"] as const;

/** What every deployment's functions have to be. */
export function functionsContract({ stage, production, redis, graph }: Deployed): void {
  const fn = (name: string): Inputs => graph().inputs("aws:lambda/function:Function", `${name}Function`);
  const role = (name: string): Inputs => graph().inputs("aws:iam/role:Role", `${name}Role`);

  it("has three functions, named after the stage, on Node 24 for arm64", () => {
    expect(graph().all("aws:lambda/function:Function")).toHaveLength(3);
    for (const name of NAMES) {
      expect(fn(name)).toMatchObject({
        name: `anvil-${stage}-${name.toLowerCase()}`,
        runtime: "nodejs24.x",
        architectures: ["arm64"],
      });
    }
  });

  it("gives each the memory and the time that its work takes", () => {
    expect(NAMES.map(fn).map(({ memorySize, timeout }) => [memorySize, timeout])).toEqual([
      [1024, 10],
      [512, 900],
      [256, 50],
    ]);
  });

  it("opens one URL, to anybody, without CORS: the ingress's", () => {
    const urls = graph().all("aws:lambda/functionUrl:FunctionUrl");
    expect(urls.map(({ name }) => name)).toEqual(["IngressUrl"]);
    expect(urls[0]?.inputs).toMatchObject({
      functionName: `anvil-${stage}-ingress`,
      authorizationType: "NONE",
      invokeMode: "BUFFERED",
    });
    expect(urls[0]?.inputs).not.toHaveProperty("cors");
  });

  it("lets the public invoke the ingress by its URL, and nobody anything else", () => {
    const permissions = graph().all("aws:lambda/permission:Permission");
    expect(permissions.map(({ inputs }) => inputs)).toEqual([
      expect.objectContaining({
        function: `anvil-${stage}-ingress`,
        principal: "*",
        action: "lambda:InvokeFunction",
        invokedViaFunctionUrl: true,
      }),
      expect.objectContaining({
        function: `anvil-${stage}-ingress`,
        principal: "*",
        action: "lambda:InvokeFunctionUrl",
        functionUrlAuthType: "NONE",
      }),
    ]);
  });

  it(`${production ? "reserves concurrency for" : "reserves no concurrency, not even for"} the ingress`, () => {
    expect(fn("Ingress").reservedConcurrentExecutions).toBe(production ? 100 : undefined);
    expect(fn("Replay")).not.toHaveProperty("reservedConcurrentExecutions");
    expect(fn("Pulse")).not.toHaveProperty("reservedConcurrentExecutions");
  });

  it("logs JSON into groups that are kept for a while", () => {
    for (const name of NAMES) {
      const logGroup = `/aws/lambda/anvil-${stage}-${name.toLowerCase()}`;
      expect(fn(name).loggingConfig).toEqual({ logFormat: "JSON", logGroup });
      expect(graph().inputs("aws:cloudwatch/logGroup:LogGroup", `${name}Log`)).toMatchObject({
        name: logGroup,
        retentionInDays: production ? 90 : 7,
      });
    }
  });

  it("trusts each function's role to the Lambda service alone", () => {
    for (const name of NAMES) {
      expect(role(name).assumeRolePolicy.Statement).toEqual([
        expect.objectContaining({
          Effect: "Allow",
          Action: "sts:AssumeRole",
          Principal: { Service: "lambda.amazonaws.com" },
        }),
      ]);
    }
  });

  it("permits a function its own log, its network interfaces where it has any, and nothing more", () => {
    const inVpc = redis === "elasticache";
    for (const name of NAMES) {
      const [log, interfaces, ...more] = statementsOf(role(name));
      expect(more).toEqual([]);
      expect(log).toMatchObject({
        Action: ["logs:CreateLogStream", "logs:PutLogEvents"],
        Resource: [expect.stringMatching(`:log-group:/aws/lambda/anvil-${stage}-${name.toLowerCase()}:\\*$`)],
      });
      expect(interfaces !== undefined).toBe(inVpc);
      expect(
        interfaces?.Action.every((action) =>
          /^ec2:\w*(NetworkInterface|Subnet|PrivateIpAddress)/.test(action),
        ),
      ).toBe(inVpc ? true : undefined);
      expect(role(name).managedPolicyArns).toEqual([]);
    }
  });

  it(`H-56 puts the functions ${redis === "elasticache" ? "into private subnets beside Redis" : "into no VPC"}`, () => {
    const subnets = graph()
      .all("aws:ec2/subnet:Subnet")
      .filter(({ name }) => name.startsWith("VpcPrivate"));
    for (const name of NAMES) {
      expect(fn(name).vpcConfig?.subnetIds).toEqual(
        redis === "elasticache" ? subnets.map(({ id }) => id) : undefined,
      );
    }
    expect(graph().all("aws:ec2/natGateway:NatGateway")).toEqual([]);
  });

  it("runs pulse every minute, by the scheduler alone, and repeats nothing that failed", () => {
    const schedule = graph().inputs("aws:scheduler/schedule:Schedule", "PulseScheduleSchedule");
    expect(schedule).toMatchObject({
      scheduleExpression: "rate(1 minute)",
      state: "ENABLED",
      target: {
        arn: expect.stringMatching(`:function:anvil-${stage}-pulse$`),
        retryPolicy: { maximumRetryAttempts: 0 },
      },
    });
    const scheduler = role("PulseSchedule");
    expect(scheduler.assumeRolePolicy.Statement).toEqual([
      expect.objectContaining({ Principal: { Service: "scheduler.amazonaws.com" } }),
    ]);
    expect(statementsOf(scheduler)).toEqual([
      { Effect: "Allow", Action: ["lambda:InvokeFunction"], Resource: [schedule.target.arn] },
    ]);
    for (const name of ["Replay", "Pulse"]) {
      expect(
        graph().inputs(
          "aws:lambda/functionEventInvokeConfig:FunctionEventInvokeConfig",
          `${name}EventInvokeConfig`,
        ),
      ).toMatchObject({ functionName: `anvil-${stage}-${name.toLowerCase()}`, maximumRetryAttempts: 0 });
    }
  });
}
