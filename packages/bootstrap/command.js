import { spawn } from "node:child_process";

/**
 * @typedef {object} CommandResult
 * @property {number} code the exit code; 127 when there is no such program, 128 and up after a signal
 * @property {string} output standard output and standard error as they came; empty when they were inherited
 */

/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();

/**
 * Run a program to its end. A non-zero exit code is an answer, not an error.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, show?: boolean }} [options] `show`: its output goes to ours
 * @returns {Promise<CommandResult>}
 */
export function runCommand(command, args, { cwd, env = process.env, show = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      env,
      ...(cwd === undefined ? {} : { cwd }),
      stdio: show ? ["ignore", "inherit", "inherit"] : ["ignore", "pipe", "pipe"],
    });
    running.add(child);
    let output = "";
    child.stdout?.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.on("error", (error) => {
      running.delete(child);
      resolve({ code: 127, output: `${output}${error.message}\n` });
    });
    child.on("close", (code, signal) => {
      running.delete(child);
      resolve({ code: code ?? 128, output: signal ? `${output}ended by ${signal}\n` : output });
    });
  });
}

/**
 * The npm that runs this script, else the one on the PATH.
 *
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, show?: boolean }} [options]
 */
export function runNpm(args, options = {}) {
  const cli = (options.env ?? process.env).npm_execpath;
  return cli?.endsWith(".js") && cli.includes("npm")
    ? runCommand(process.execPath, [cli, ...args], options)
    : runCommand("npm", args, options);
}

/**
 * Pass a signal on to whatever `runCommand` is waiting for.
 *
 * @param {NodeJS.Signals} signal
 */
export function signalRunning(signal) {
  for (const child of running) child.kill(signal);
}

/**
 * @param {string} output
 * @param {number} count
 */
export function lastLines(output, count) {
  return output.trimEnd().split("\n").slice(-count).join("\n");
}
