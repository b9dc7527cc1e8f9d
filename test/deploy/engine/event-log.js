import { appendFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";

/**
 * What happened, in the lines that SST's command line follows.
 *
 * @param {string} path
 * @param {{ planning: boolean }} options
 */
export function eventLog(path, { planning }) {
  let sequence = 0;
  /** @type {Record<string, number>} */
  const counts = {};
  /** @type {string[]} */
  const changed = [];

  /** @param {object} event */
  function write(event) {
    const timestamp = Math.floor(Date.now() / 1_000);
    appendFileSync(path, `${JSON.stringify({ sequence: sequence++, timestamp, ...event })}\n`);
  }

  /**
   * @param {"create" | "same" | "update" | "delete"} op
   * @param {any} before
   * @param {any} after
   */
  function step(op, before, after) {
    counts[op] = (counts[op] ?? 0) + 1;
    const { urn, type } = after ?? before;
    const diffs = op === "update" ? changedKeys(before.inputs, after.inputs) : [];
    if (op !== "same") changed.push([op, urn, ...diffs].join(" "));
    const detailedDiff = Object.fromEntries(
      diffs.map((key) => [key, { diffKind: "update", inputDiff: true }]),
    );
    const sides = { old: before ? side(before) : null, new: after ? side(after) : null };
    const metadata = { op, urn, type, ...sides, diffs, detailedDiff, logical: true, provider: "" };
    write({ resourcePreEvent: { metadata, planning } });
    write({ resOutputsEvent: { metadata, planning } });
  }

  return {
    /** @param {object} config */
    begin: (config) => write({ preludeEvent: { config } }),
    step,
    /** @param {string} message */
    error: (message) =>
      write({ diagnosticEvent: { urn: "", prefix: "", message, color: "never", severity: "error" } }),
    /** @returns {string[]} what was done to which resource, and because of which inputs */
    end() {
      write({
        summaryEvent: { maybeCorrupt: false, durationSeconds: 0, resourceChanges: counts, policyPacks: {} },
      });
      return changed;
    },
  };
}

/**
 * @param {Record<string, any>} before
 * @param {Record<string, any>} after
 */
export function changedKeys(before = {}, after = {}) {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => !isDeepStrictEqual(before[key], after[key]),
  );
}

/** @param {any} resource */
function side({ urn, type, custom, id = "", parent = "", inputs, outputs }) {
  return { urn, type, custom, id, parent, provider: "", inputs, outputs };
}
