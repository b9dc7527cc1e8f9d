import { describe, expect, it } from "vitest";
import { readSettings } from "./settings.ts";

const problemsOf = (env: Record<string, string>, stage = "jane"): string => {
  try {
    readSettings(env, stage);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("There was nothing wrong");
};

describe("a deployment's settings", () => {
  it("are small for a personal stage", () => {
    expect(readSettings({}, "jane")).toEqual({
      ...{
        stage: "jane",
        production: false,
        protect: "no",
        redis: "elasticache",
        redisInstance: "t4g.micro",
      },
      ...{ workerMin: 1, workerMax: 2, workerCpu: "0.25", workerMemoryMb: 512, workerArchitecture: "x86_64" },
      ...{ workerConcurrency: 10, drainSeconds: 25, scaleOldestSeconds: 30, scaleWaiting: 500, logDays: 7 },
      ...{ alarmDead: 1, alarmOldestSeconds: 300, alarm5xx: 5 },
      ...{ region: undefined, ingressConcurrency: undefined, domain: undefined, rateLimit: undefined },
      alarmEmail: undefined,
    });
  });

  it("are larger for production, and for nothing else that sounds like it", () => {
    expect(readSettings({}, "production")).toMatchObject({
      ...{
        production: true,
        protect: "yes",
        redisInstance: "t4g.small",
        ingressConcurrency: 100,
        logDays: 90,
      },
      ...{ workerMin: 2, workerMax: 20, workerCpu: "0.5", workerMemoryMb: 1_024 },
    });
    expect(readSettings({}, "Production").production).toBe(false);
    expect(readSettings({}, "prod").production).toBe(false);
  });

  it("are read from ANVIL_DEPLOY_*, durations in seconds", () => {
    const settings = readSettings(
      {
        ANVIL_DEPLOY_REDIS: "upstash",
        ANVIL_DEPLOY_DRAIN: "1m",
        ANVIL_DEPLOY_ALARM_OLDEST: "2h",
        ANVIL_DEPLOY_LOG_DAYS: "365",
        ANVIL_DEPLOY_DOMAIN: " hooks.example.com ",
        ANVIL_DEPLOY_RATE_LIMIT: "",
        PATH: "/bin",
      },
      "jane",
    );
    expect(settings).toMatchObject({
      ...{ redis: "upstash", drainSeconds: 60, alarmOldestSeconds: 7_200, logDays: 365 },
      ...{ domain: "hooks.example.com", rateLimit: undefined },
    });
  });

  it("can be switched off with none, where that means something", () => {
    expect(readSettings({ ANVIL_DEPLOY_INGRESS_CONCURRENCY: "none" }, "production").ingressConcurrency).toBe(
      undefined,
    );
    expect(problemsOf({ ANVIL_DEPLOY_WORKER_MIN: "none" })).toContain(
      'ANVIL_DEPLOY_WORKER_MIN is a whole number from 1 to 1000; it is "none"',
    );
  });

  it("are refused all at once, with what was found", () => {
    expect(
      problemsOf({
        ANVIL_DEPLOY_REDIS: "memcached",
        ANVIL_DEPLOY_DRAIN: "25",
        ANVIL_DEPLOY_WORKER_MIN: "0",
        ANVIL_DEPLOY_RATE_LIMIT: "1e6",
        ANVIL_DEPLOY_ALARM_EMAIL: "oncall",
        ANVIL_DEPLOY_LOG_DAYS: "10",
      }).split("\n"),
    ).toEqual([
      "The deployment's settings are wrong:",
      '- ANVIL_DEPLOY_REDIS is one of elasticache, url, upstash; it is "memcached"',
      '- ANVIL_DEPLOY_RATE_LIMIT is a whole number from 10 to 2000000000, or none; it is "1e6"',
      '- ANVIL_DEPLOY_WORKER_MIN is a whole number from 1 to 1000; it is "0"',
      '- ANVIL_DEPLOY_DRAIN is a duration from 1s to 105s, as in 25s or 5m; it is "25"',
      expect.stringMatching(/^- ANVIL_DEPLOY_LOG_DAYS is one of 1, 3, 5, 7, .*; it is "10"$/),
      '- ANVIL_DEPLOY_ALARM_EMAIL is an e-mail address, or none; it is "oncall"',
    ]);
  });

  it("are refused when one is misspelt", () => {
    expect(problemsOf({ ANVIL_DEPLOY_DRIAN: "10s" })).toContain(
      "ANVIL_DEPLOY_DRIAN is no setting; they are ANVIL_DEPLOY_REDIS, ",
    );
  });

  it.each([
    [
      { ANVIL_DEPLOY_WORKER_MIN: "3" },
      "ANVIL_DEPLOY_WORKER_MIN is 3, more than ANVIL_DEPLOY_WORKER_MAX, which is 2",
    ],
    [
      { ANVIL_DEPLOY_WORKER_CPU: "1" },
      "ANVIL_DEPLOY_WORKER_MEMORY_MB is 512; with 1 vCPU Fargate takes 2048, 3072, 4096, 5120, 6144, 7168, 8192",
    ],
  ])("are refused when they contradict each other: %j", (env, problem) => {
    expect(problemsOf(env)).toContain(problem);
  });

  it.each([
    ["ANVIL_DEPLOY_DRAIN", "105s", "106s"],
    ["ANVIL_DEPLOY_DRAIN", "1s", "0s"],
    ["ANVIL_DEPLOY_RATE_LIMIT", "10", "9"],
    ["ANVIL_DEPLOY_DOMAIN", "hooks.example.com", "https://hooks.example.com"],
    ["ANVIL_DEPLOY_DOMAIN", "a.io", "localhost"],
    ["ANVIL_DEPLOY_REGION", "us-gov-west-1", "eu-central"],
    ["ANVIL_DEPLOY_REDIS_INSTANCE", "r7g.large", "cache.r7g.large"],
    ["ANVIL_DEPLOY_WORKER_MEMORY_MB", "2048", "512.5"],
  ])("%s may be %s, not %s", (variable, right, wrong) => {
    expect(() => readSettings({ [variable]: right }, "jane")).not.toThrow();
    expect(problemsOf({ [variable]: wrong })).toContain(variable);
  });
});
