import { readFileSync } from "node:fs";
import { relative } from "node:path";

/**
 * @typedef {object} RunResult
 * @property {string} node its version
 * @property {number} exitCode of vitest
 * @property {number} passed
 * @property {number} failed test files that could not run to their end count as one each
 * @property {string[]} skippedNames
 * @property {string[]} failedNames
 */

/**
 * @typedef {object} JsonReport what vitest's JSON reporter writes, as far as it is read here
 * @property {{ name: string, status: string, assertionResults: { fullName: string, status: string }[] }[]} testResults
 */

/**
 * @param {string} path of vitest's JSON report
 * @param {{ root: string, node: string, exitCode: number }} run
 * @returns {RunResult}
 */
export function readReport(path, { root, node, exitCode }) {
  /** @type {JsonReport} */
  const report = JSON.parse(readFileSync(path, "utf8"));
  /** @type {RunResult} */
  const result = { node, exitCode, passed: 0, failed: 0, skippedNames: [], failedNames: [] };
  for (const file of report.testResults) {
    const fileName = relative(root, file.name);
    const failedBefore = result.failedNames.length;
    for (const { fullName, status } of file.assertionResults) {
      const name = `${fileName} > ${fullName}`;
      if (status === "passed") result.passed++;
      else if (status === "failed") result.failedNames.push(name);
      else result.skippedNames.push(name);
    }
    // An import that throws or a hook that fails leaves no failed test, only a failed file.
    if (file.status === "failed" && result.failedNames.length === failedBefore) {
      result.failedNames.push(`${fileName} (the file, not one of its tests)`);
    }
  }
  result.failed = result.failedNames.length;
  return result;
}

/**
 * @param {readonly RunResult[]} results
 * @returns {string} `2 passed, 0 failed, 1 skipped on node 20.20.2; …`
 */
export function closingLine(results) {
  return results.map((result) => `${countsOf([result])} on node ${result.node}`).join("; ");
}

/**
 * @param {readonly RunResult[]} results
 * @returns {string} `4 passed, 0 failed, 2 skipped`, all runs together
 */
export function countsOf(results) {
  /** @param {(result: RunResult) => number} count */
  const sum = (count) => results.reduce((total, result) => total + count(result), 0);
  const skipped = sum(({ skippedNames }) => skippedNames.length);
  return `${sum(({ passed }) => passed)} passed, ${sum(({ failed }) => failed)} failed, ${skipped} skipped`;
}

/**
 * Each test once, with the Node versions on which it was skipped.
 *
 * @param {readonly RunResult[]} results
 * @returns {string[]}
 */
export function skippedLines(results) {
  const names = new Set(results.flatMap(({ skippedNames }) => skippedNames));
  return [...names].map((name) => {
    const nodes = results.filter(({ skippedNames }) => skippedNames.includes(name)).map(({ node }) => node);
    return `skipped: ${name} (node ${nodes.join(", ")})`;
  });
}
