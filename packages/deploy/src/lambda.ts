import type { RedisAccess } from "./redis.ts";
import type { Settings } from "./settings.ts";

type FunctionArgs = ConstructorParameters<typeof sst.aws.Function>[1];

/**
 * What all functions have in common. Its name is `anvil-<stage>-<name>`. Its role is for the Lambda service alone
 * and may write its own log and, with a VPC, have its network interfaces; what a function needs beyond that is a
 * link or a permission of its own.
 */
export function lambda(name: string, settings: Settings, redis: RedisAccess): Omit<FunctionArgs, "handler"> {
  const functionName = `${$app.name}-${$app.stage}-${name.toLowerCase()}`;
  const log = new aws.cloudwatch.LogGroup(`${name}Log`, {
    name: `/aws/lambda/${functionName}`,
    retentionInDays: settings.logDays,
  });
  return {
    name: functionName,
    runtime: "nodejs24.x",
    architecture: "arm64",
    logging: { format: "json", logGroup: log.name },
    ...(redis.functionVpc ? { vpc: redis.functionVpc } : {}),
    nodejs: {
      format: "esm",
      // A cold start reads all of it.
      minify: true,
      // The workspace's packages are bundled from their sources.
      esbuild: { conditions: ["anvil-source"] },
    },
    transform: {
      role: (args) => {
        // SST would let the whole account assume it.
        args.assumeRolePolicy = aws.iam.assumeRolePolicyForPrincipal({ Service: "lambda.amazonaws.com" });
        // SST's managed policies let it write every log of the account.
        args.managedPolicyArns = [];
        args.inlinePolicies = $util
          .all([args.inlinePolicies, ownPolicy(log, redis.functionVpc !== undefined)])
          .apply(([others, policy]) => [...(others ?? []), { name: "own", policy }]);
      },
    },
  };
}

function ownPolicy(log: aws.cloudwatch.LogGroup, inVpc: boolean): $util.Output<string> {
  const statements = [
    { actions: ["logs:CreateLogStream", "logs:PutLogEvents"], resources: [$interpolate`${log.arn}:*`] },
  ];
  // AWS offers no narrower resource for these.
  const interfaces = {
    actions: [
      "ec2:CreateNetworkInterface",
      "ec2:DescribeNetworkInterfaces",
      "ec2:DescribeSubnets",
      "ec2:DeleteNetworkInterface",
      "ec2:AssignPrivateIpAddresses",
      "ec2:UnassignPrivateIpAddresses",
    ],
    resources: ["*"],
  };
  return aws.iam.getPolicyDocumentOutput({ statements: inVpc ? [...statements, interfaces] : statements })
    .json;
}
