import { access, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lastLines, runNpm } from "anvil-bootstrap/command";
import { oneAtATime } from "../one-at-a-time.ts";
import { productionNode } from "../production-node.ts";
import { root } from "../sst-platform.ts";

const VERSION = "3.3.0";
const folder = join(root, ".anvil", `aws-lambda-ric-${VERSION}`);
/** AWS's own client of the runtime interface: what fetches events and calls the handler, in its Node runtimes too. */
export const runtimeClient = join(folder, "node_modules/aws-lambda-ric/bin/index.mjs");

let missing: Promise<string | undefined> | undefined;

/**
 * Installs the runtime client: ten seconds the first time, nothing after that.
 * @returns why functions can't be run here as Lambda runs them; undefined when they can
 */
export function lambdaImpossible(): Promise<string | undefined> {
  missing ??= findObstacle();
  return missing;
}

async function findObstacle(): Promise<string | undefined> {
  const node = await productionNode();
  if ("skipped" in node) return node.skipped;
  return await oneAtATime("aws-lambda-ric", async () =>
    (await isInstalled()) ? undefined : await install(),
  );
}

async function isInstalled(): Promise<boolean> {
  return await access(runtimeClient).then(
    () => true,
    () => false,
  );
}

async function install(): Promise<string | undefined> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{ "private": true }\n');
  const { code, output } = await runNpm(
    // Its scripts would compile curl for minutes; native-client.js does in its place.
    ["install", "--ignore-scripts", "--no-save", "--no-audit", "--no-fund", `aws-lambda-ric@${VERSION}`],
    { cwd: folder },
  );
  if (code === 0 && (await isInstalled())) return undefined;
  await rm(folder, { recursive: true, force: true });
  return `aws-lambda-ric could not be installed (${lastLines(output, 1)})`;
}
