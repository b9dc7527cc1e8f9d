import { afterEach, describe, expect, it } from "vitest";
import { graphOf } from "./graph.ts";
import { madeUpSecrets } from "./made-up-secrets.ts";
import { type OfflineStage, type OfflineStageOptions, offlineStage } from "./offline-stage.ts";
import { installSstPlatform } from "./sst-platform.ts";

const missing = await installSstPlatform();
const because = missing ? ` (skipped: ${missing})` : "";

describe.skipIf(missing)(`sst deploy with settings${because}`, { timeout: 120_000 }, () => {
  let offline: OfflineStage | undefined;
  afterEach(async () => await offline?.discard());
  const stage = async (options: Omit<OfflineStageOptions, "stage">) => {
    offline = await offlineStage({ stage: "production", ...options });
    return offline;
  };

  it("puts CloudFront with a domain and a rate limit in front, and the settings where they belong", async () => {
    const { deploy } = await stage({
      secrets: madeUpSecrets,
      settings: {
        ANVIL_DEPLOY_REDIS: "url",
        ANVIL_DEPLOY_REGION: "eu-central-1",
        ANVIL_DEPLOY_DOMAIN: "hooks.example.com",
        ANVIL_DEPLOY_RATE_LIMIT: "20000",
        ANVIL_DEPLOY_INGRESS_CONCURRENCY: "none",
        ANVIL_DEPLOY_WORKER_MIN: "3",
        ANVIL_DEPLOY_WORKER_MAX: "30",
        ANVIL_DEPLOY_WORKER_CPU: "1",
        ANVIL_DEPLOY_WORKER_MEMORY_MB: "3072",
        ANVIL_DEPLOY_WORKER_ARCHITECTURE: "arm64",
        ANVIL_DEPLOY_DRAIN: "90s",
        ANVIL_DEPLOY_SCALE_OLDEST: "1m",
        ANVIL_DEPLOY_ALARM_EMAIL: "oncall@example.com",
        ANVIL_DEPLOY_ALARM_DEAD: "10",
      },
    });
    const graph = graphOf(await deploy());

    expect(graph.outputs.webhooks).toBe("https://hooks.example.com/webhooks");
    expect(graph.inputs("aws:cloudfront/distribution:Distribution", "RouterCdnDistribution")).toMatchObject({
      aliases: ["hooks.example.com"],
      webAclId: expect.stringMatching(/^arn:aws:wafv2:/),
    });
    const waf = graph.inputs("aws:wafv2/webAcl:WebAcl", "RouterWaf");
    expect(waf.scope).toBe("CLOUDFRONT");
    // Only the rate: AWS's managed rules would refuse signed bodies that look like an attack.
    expect(waf.rules).toEqual([
      expect.objectContaining({
        action: { block: {} },
        statement: { rateBasedStatement: { limit: 20_000, aggregateKeyType: "IP" } },
      }),
    ]);
    expect(graph.config["aws:region"]).toBe("eu-central-1");
    expect(graph.inputs("aws:lambda/function:Function", "IngressFunction")).not.toHaveProperty(
      "reservedConcurrentExecutions",
    );
    expect(graph.inputs("aws:appautoscaling/target:Target", "WorkerAutoScalingTarget")).toMatchObject({
      minCapacity: 3,
      maxCapacity: 30,
    });
    const task = graph.inputs("aws:ecs/taskDefinition:TaskDefinition", "WorkerTask");
    expect(task).toMatchObject({
      cpu: "1024",
      memory: "3072",
      runtimePlatform: { cpuArchitecture: "ARM64" },
    });
    expect(JSON.parse(task.containerDefinitions)[0]).toMatchObject({
      stopTimeout: 105,
      environment: expect.arrayContaining([{ name: "ANVIL_DRAIN", value: "90s" }]),
    });
    expect(graph.inputs("aws:sns/topicSubscription:TopicSubscription", "AlarmsEmail")).toMatchObject({
      protocol: "email",
      endpoint: "oncall@example.com",
    });
    expect(graph.inputs("aws:cloudwatch/metricAlarm:MetricAlarm", "DeadLettersAlarm").threshold).toBe(10);
    expect(
      graph.inputs("aws:cloudwatch/metricAlarm:MetricAlarm", "WorkerPressureHigh").metricQueries,
    ).toContainEqual({ id: "agePressure", expression: "age / 60" });
  });

  it("refuses wrong settings, all of them at once", async () => {
    const { sst } = await stage({ settings: { ANVIL_DEPLOY_REDIS: "memcached", ANVIL_DEPLOY_DRIAN: "10s" } });
    const { code, output } = await sst("deploy");
    expect(code).not.toBe(0);
    expect(output).toContain("ANVIL_DEPLOY_REDIS is one of elasticache, url, upstash");
    expect(output).toContain("ANVIL_DEPLOY_DRIAN is no setting");
  });

  it("creates nothing while secrets are missing or unusable, and says how to set each", async () => {
    const { sst } = await stage({
      secrets: { RedisUrl: "redis://default:made-up-password@redis.example.com:6379" },
      settings: { ANVIL_DEPLOY_REDIS: "upstash" },
    });
    const { code, output } = await sst("deploy");
    expect(code).not.toBe(0);
    expect(output).toContain("WebhookSecret is not set: sst secret set WebhookSecret '…' --stage production");
    expect(output).toContain("RedisUrl has to begin with rediss://");
    expect(output).toContain("UpstashRedisRestToken is not set");
    expect(output).not.toContain("WebhookSecretPrevious");
    expect(output).not.toContain("made-up-password");
    expect(output).not.toContain("Created");
  });

  it("removes production only after a deployment that says that it may", async () => {
    const { sst, deploy, configure } = await stage({ secrets: madeUpSecrets });
    await deploy();
    const refused = await sst("remove");
    expect(refused.code).not.toBe(0);
    expect(refused.output).toMatch(/protected/i);

    configure({ ANVIL_DEPLOY_PROTECT: "no" });
    const [redis] = graphOf(await deploy()).all("aws:elasticache/replicationGroup:ReplicationGroup");
    expect(redis?.options).not.toHaveProperty("protect");
    expect(redis?.options).not.toHaveProperty("retainOnDelete");
    expect(await sst("remove")).toMatchObject({ code: 0 });
  });
});
