import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { containerOf, type Graph, graphOf } from "./graph.ts";
import { type Lambda, type LambdaOptions, startLambda } from "./lambda/start-lambda.ts";
import { offlineStage } from "./offline-stage.ts";
import { root } from "./sst-platform.ts";

type FunctionName = "Ingress" | "Replay" | "Pulse";

/** A stage as it was deployed, to be run. */
export interface DeployedStage {
  readonly graph: Graph;
  /** The files of the function's zip. */
  zip(name: FunctionName): string;
  /** A sandbox of that function, from its zip and with its environment. */
  start(name: FunctionName, options?: Partial<LambdaOptions>): Promise<Lambda>;
  /** What ECS would put into the worker's environment, what lies in parameters included. */
  workerEnvironment(): Record<string, string>;
  discard(): Promise<void>;
}

export interface DeployedStageOptions {
  readonly redis: "url" | "upstash";
  /** By the name that `sst secret set` takes. */
  readonly secrets: Readonly<Record<string, string>>;
  /** With user-code/ in place of the checkout's own. Default: no. */
  readonly withUserCode?: boolean;
}

export const userCode = fileURLToPath(new URL("user-code", import.meta.url));

/** Deploys the checkout with SST's unmodified command line, to an AWS that isn't there. */
export async function deployStage({
  redis,
  secrets,
  withUserCode,
}: DeployedStageOptions): Promise<DeployedStage> {
  const stage = await offlineStage({ stage: "local", secrets, settings: { ANVIL_DEPLOY_REDIS: redis } });
  try {
    if (withUserCode) await replaceConfig(stage.folder);
    const graph = graphOf(await stage.deploy());
    const zip = (name: FunctionName) => join(stage.folder, ".sst/artifacts", `${name}-src`);
    return {
      ...{ graph, zip },
      async start(name, options = {}) {
        const {
          handler,
          environment,
          timeout,
          name: functionName,
        } = graph.inputs("aws:lambda/function:Function", `${name}Function`);
        return await startLambda({
          ...{ folder: zip(name), handler, name: functionName, timeoutMs: timeout * 1_000 },
          ...options,
          environment: { ...environment.variables, ...options.environment },
        });
      },
      workerEnvironment() {
        const { environment, secrets } = containerOf(graph) as {
          environment: { name: string; value: string }[];
          secrets: { name: string; valueFrom: string }[];
        };
        const parameters = graph.all("aws:ssm/parameter:Parameter");
        const parameterAt = (arn: string) =>
          parameters.find(({ inputs }) => arn.endsWith(`:parameter${inputs.name}`))?.inputs.value;
        return Object.fromEntries([
          ...environment.map(({ name, value }) => [name, value]),
          ...secrets.map(({ name, valueFrom }) => [name, parameterAt(valueFrom)]),
        ]);
      },
      discard: () => stage.discard(),
    };
  } catch (error) {
    await stage.discard();
    throw error;
  }
}

/** What imports the configuration has to lie beside it: through a link, a bundler would find the checkout's own. */
async function replaceConfig(folder: string): Promise<void> {
  for (const name of ["functions", "sst.config.ts"]) {
    await rm(join(folder, name));
    await cp(join(root, name), join(folder, name), { recursive: true });
  }
  await rm(join(folder, "anvil.config.ts"));
  await cp(join(userCode, "anvil.config.ts"), join(folder, "anvil.config.ts"));
}
