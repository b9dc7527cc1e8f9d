import type { RedisAccess } from "./redis.ts";
import type { ContainerSecret } from "./secrets.ts";
import type { Settings } from "./settings.ts";

type ServiceArgs = ConstructorParameters<typeof sst.aws.Service>[1];
type Transforms = NonNullable<ServiceArgs["transform"]>;
type RoleTransform = Extract<Transforms["taskRole"], (...args: never[]) => unknown>;

/** ECS doesn't read the image's own HEALTHCHECK; this is the same command as in workers/Dockerfile. */
const HEALTH_COMMAND: [string, ...string[]] = [
  "CMD",
  "node",
  "-e",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the container's Node fills it in
  "fetch(`http://127.0.0.1:${process.env.HEALTH_PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))",
];

/**
 * The containers that run the handlers. They have no permission in AWS at all; give handlers what they need with
 * `link` or `permissions` below, but no secret by a link: a container's links are plain environment. Use `ssm`.
 *
 * The root file system is read-only. A handler that has to write needs a volume.
 */
export function createWorker(
  settings: Settings,
  redis: RedisAccess,
  cluster: sst.aws.Cluster,
  secrets: readonly ContainerSecret[],
): sst.aws.Service {
  const parameters = [{ variable: "REDIS_URL", link: "RedisUrl", value: redis.url }, ...secrets].map(
    ({ variable, link, value }) => ({
      variable,
      parameter: new aws.ssm.Parameter(`${link}Parameter`, {
        name: `/${$app.name}/${$app.stage}/${variable.toLowerCase().replaceAll("_", "-")}`,
        description: `${variable} of the workers`,
        type: "SecureString",
        value,
      }),
    }),
  );
  return new sst.aws.Service("Worker", {
    cluster,
    image: { context: ".", dockerfile: "workers/Dockerfile", target: "worker" },
    architecture: settings.workerArchitecture,
    cpu: `${settings.workerCpu} vCPU`,
    memory: `${settings.workerMemoryMb / 1_024} GB` as NonNullable<ServiceArgs["memory"]>,
    environment: {
      ANVIL_CONCURRENCY: String(settings.workerConcurrency),
      ANVIL_DRAIN: `${settings.drainSeconds}s`,
      // Containers read these when they start: another value has to start others.
      ...Object.fromEntries(
        parameters.map(({ variable, parameter }) => [
          versionVariable(variable),
          $interpolate`${parameter.version}`,
        ]),
      ),
    },
    ssm: Object.fromEntries(parameters.map(({ variable, parameter }) => [variable, parameter.arn])),
    health: {
      command: HEALTH_COMMAND,
      startPeriod: "30 seconds",
      interval: "30 seconds",
      timeout: "5 seconds",
      retries: 3,
    },
    scaling: {
      min: settings.workerMin,
      max: settings.workerMax,
      cpuUtilization: false,
      memoryUtilization: false,
    },
    // Spot is cheaper and may be taken away with two minutes' notice: enough to drain.
    capacity: { fargate: { base: settings.workerMin, weight: 1 }, spot: { weight: 4 } },
    transform: {
      logGroup: (args) => {
        args.retentionInDays = settings.logDays;
      },
      taskDefinition: (args) => {
        args.containerDefinitions = $util
          .output(args.containerDefinitions)
          .apply((json) =>
            JSON.stringify((JSON.parse(json) as object[]).map((each) => hardened(each, settings))),
          );
      },
      service: (args, options) => {
        // It would need a writable file system and a role that may open channels.
        args.enableExecuteCommand = false;
        // How many there are is the scaling's business; a deployment must not go back to the minimum.
        options.ignoreChanges = [...(options.ignoreChanges ?? []), "desiredCount"];
      },
      taskRole: withoutExecChannels,
      executionRole: (args) => {
        args.inlinePolicies = [
          { name: "redis-url", policy: readOnly(parameters.map(({ parameter }) => parameter.arn)) },
        ];
      },
    },
  });
}

/** SIGTERM comes first, and SIGKILL after this long: past the drain limit, with time to give the rest back. */
function stopTimeoutSeconds({ drainSeconds }: Settings): number {
  return Math.min(120, Math.max(60, drainSeconds + 15));
}

function hardened(container: object, settings: Settings): object {
  return {
    ...container,
    stopTimeout: stopTimeoutSeconds(settings),
    readonlyRootFilesystem: true,
    // Log lines are JSON, not a terminal's; and nothing connects to a worker.
    pseudoTerminal: false,
    portMappings: [],
  };
}

const withoutExecChannels: RoleTransform = (args) => {
  args.inlinePolicies = $util.output(args.inlinePolicies).apply((policies) =>
    (policies ?? []).flatMap((entry) => {
      const document = JSON.parse(entry.policy ?? "{}") as { Statement?: { Action: string | string[] }[] };
      const kept = (document.Statement ?? []).filter(
        ({ Action }) => ![Action].flat().every((action) => action.startsWith("ssmmessages:")),
      );
      return kept.length === 0
        ? []
        : [{ ...entry, policy: JSON.stringify({ ...document, Statement: kept }) }];
    }),
  );
  return undefined;
};

/** `ANVIL_REDIS_URL_VERSION` */
function versionVariable(variable: string): string {
  return `${variable.startsWith("ANVIL_") ? "" : "ANVIL_"}${variable}_VERSION`;
}

function readOnly(parameterArns: $util.Output<string>[]): $util.Output<string> {
  return aws.iam.getPolicyDocumentOutput({
    statements: [{ actions: ["ssm:GetParameters"], resources: parameterArns }],
  }).json;
}
