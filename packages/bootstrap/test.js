// npm test: everything that CI checks, on a machine that has Node and npm and nothing else.
//   npm test -- --node current    only on this Node, without the second version
//   npm test -- -t "buries"       anything else goes to vitest

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runCommand, runNpm, signalRunning } from "./command.js";
import { findRedisServer } from "./find-redis.js";
import { ensureInstalled } from "./install.js";
import { secondNode, withNode } from "./second-node.js";
import { closingLine, countsOf, readReport, skippedLines } from "./vitest-report.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const state = join(root, ".anvil");
/**
 * Which projects of vitest.config.ts are run on which of two Nodes: some on one only, for time. What is deployed runs
 * on a Node of its own, and SST's program on none; processes are started, killed and attacked on the other, which is
 * production's for most of us. `npm test -- --node current` runs all of them.
 */
const projects = { current: ["tests", "deploy"], second: ["tests", "processes", "chaos"] };
/** Read by .ci/run. */
const countsPath = join(state, "test-counts");

/** @param {string} line */
const log = (line) => console.log(line);

for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
  process.on(signal, () => {
    stopped ||= signal;
    // From the keyboard, it has reached vitest too: a second one would keep it from ending in order.
    if (signal !== "SIGINT" || !process.stdin.isTTY) signalRunning(signal);
  });
}
/** @type {string | undefined} */
let stopped;

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/**
 * @param {readonly string[]} args
 * @returns {Promise<number>} the exit code
 */
async function main(args) {
  const { onlyCurrentNode, vitestArgs } = readArgs(args);
  mkdirSync(state, { recursive: true });
  rmSync(countsPath, { force: true });
  await ensureInstalled(root, { log });

  /** @type {string[]} */
  const failures = [];
  for (const script of ["lint", "typecheck", "unused"]) {
    log(`== ${script}`);
    const { code, output } = await runNpm(["run", "--silent", script], { cwd: root });
    if (stopped) return 130;
    if (code === 0) continue;
    log(output.trimEnd());
    failures.push(script);
  }

  const env = { ...process.env, ANVIL_REDIS_SERVER: await findRedisServer({ log }) };
  const current = { version: process.versions.node, binary: process.execPath };
  const second = onlyCurrentNode ? undefined : await secondNode(root, { log });
  if (stopped) return 130;
  const both = second !== undefined && !("skipped" in second);
  if (second && "skipped" in second) log(`skipped: the second run, on ${second.skipped}`);
  const results = [];
  for (const node of both ? [current, second] : [current]) {
    const selected = both ? projects[node === current ? "current" : "second"] : [];
    const args = [...vitestArgs, ...selected.map((project) => `--project=${project}`)];
    const result = await runVitest(node, args, node === current ? env : withNode(node.binary, env));
    if (!result) return 130;
    results.push(result);
  }

  // With a name pattern, vitest reports every other test as skipped: they are counted, not listed.
  const chosen = vitestArgs.some((arg) => arg === "-t" || arg.startsWith("--testNamePattern"));
  log(["", ...(chosen ? [] : skippedLines(results))].join("\n").trimEnd());
  for (const { node, failedNames, exitCode, passed } of results) {
    for (const name of failedNames) log(`failed: ${name} (node ${node})`);
    if (exitCode !== 0 || failedNames.length > 0) failures.push(`tests on node ${node}`);
    else if (passed === 0) failures.push(`tests on node ${node}: none ran`);
  }
  if (failures.length > 0) log(`failed: ${failures.join(", ")}`);
  log(`tests: ${closingLine(results)}`);
  writeFileSync(countsPath, `${countsOf(results)}\n`);
  return failures.length > 0 ? 1 : 0;
}

/**
 * @param {import("./second-node.js").NodeRuntime} node
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<import("./vitest-report.js").RunResult | undefined>} undefined: we were told to stop
 */
async function runVitest({ version, binary }, args, env) {
  log(`== vitest on node ${version}`);
  const report = join(state, `vitest-node-${version}.json`);
  rmSync(report, { force: true });
  const { code } = await runCommand(
    binary,
    [
      ...[join(root, "node_modules", "vitest", "vitest.mjs"), "run"],
      ...["--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...args],
    ],
    { cwd: root, env, show: true },
  );
  if (stopped) return undefined;
  try {
    return readReport(report, { root, node: version, exitCode: code });
  } catch (error) {
    throw new Error(`vitest on node ${version} ended with exit code ${code} and left no report.`, {
      cause: error,
    });
  }
}

/** @param {readonly string[]} args */
function readArgs(args) {
  const vitestArgs = [...args];
  let choice = process.env.ANVIL_TEST_NODE;
  const at = vitestArgs.findIndex((arg) => arg === "--node" || arg.startsWith("--node="));
  if (at >= 0) {
    const [flag = ""] = vitestArgs.splice(at, 1);
    choice = flag.includes("=") ? flag.slice("--node=".length) : vitestArgs.splice(at, 1)[0];
    if (choice !== "current") throw new Error(`--node takes "current"; it got ${choice ?? "nothing"}.`);
  }
  if (choice !== undefined && choice !== "" && choice !== "current") {
    throw new Error(`ANVIL_TEST_NODE may be "current"; it is ${JSON.stringify(choice)}.`);
  }
  return { onlyCurrentNode: choice === "current", vitestArgs };
}
