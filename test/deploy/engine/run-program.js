import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { createResourceMonitor } from "./resource-monitor.js";

/** After an error some outputs never settle: once the program has been quiet for this long, nothing more comes. */
const QUIET_MS = 750;

/**
 * Runs a Pulumi program with the SDK that it brings, and with everything that the SDK does; only the engine at the
 * other end is ours.
 *
 * @param {object} options
 * @param {string} options.program
 * @param {string} options.platform the folder that has the SDK
 * @param {{ organization: string, project: string, stack: string }} options.target
 * @param {Readonly<Record<string, string>>} options.config
 * @param {ReadonlyMap<string, { inputs?: Record<string, any> }>} options.previous
 */
export async function runProgram({
  program,
  platform,
  target: { organization, project, stack },
  config,
  previous,
}) {
  const sdk = createRequire(join(platform, "package.json"));
  const pulumi = sdk("@pulumi/pulumi");
  const settings = sdk("@pulumi/pulumi/runtime/settings");
  /** @type {Map<string, string>} message to stack */
  const errors = new Map();
  /** @param {unknown} error */
  const onError = (error) => {
    const { message, stack: trace } = error instanceof Error ? error : new Error(String(error));
    errors.set(message, trace ?? message);
  };
  const cloud = { region: config["aws:region"] ?? "us-east-1", account: "123456789012" };
  const monitor = createResourceMonitor({ sdk, project, stack, cloud, previous, onError });

  // Turns on what the SDK expects of an engine; then ours takes the place of its mocks.
  await sdk("@pulumi/pulumi/runtime/mocks").setMocks({}, project, stack, false, organization);
  settings.setMockOptions(monitor.client, project, stack, false, organization);
  pulumi.runtime.setAllConfig({ "aws:region": cloud.region, ...config });

  process.on("unhandledRejection", onError);
  process.on("uncaughtException", onError);
  let finished = false;
  const run = runToItsEnd(program, pulumi, settings)
    .catch(onError)
    .finally(() => {
      finished = true;
    });
  await Promise.race([run, quietAfterError()]);
  process.off("unhandledRejection", onError);
  process.off("uncaughtException", onError);

  const resources = monitor.resources();
  const outputs = resources.find(({ type }) => type === "pulumi:pulumi:Stack")?.outputs ?? {};
  return { resources, outputs, errors: [...errors.values()] };

  async function quietAfterError() {
    while (!finished && (errors.size === 0 || monitor.idleMs() < QUIET_MS)) await delay(100);
  }
}

/**
 * @param {string} program
 * @param {any} pulumi
 * @param {any} settings
 */
async function runToItsEnd(program, pulumi, settings) {
  await pulumi.runtime.runInPulumiStack(async () => (await import(pathToFileURL(program).href)).default);
  // What an output sets off registers more.
  for (let round = 0; round < 2; round++) {
    await settings.waitForRPCs();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
