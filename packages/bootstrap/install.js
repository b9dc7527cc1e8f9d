import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lastLines, runNpm } from "./command.js";

/**
 * Install what package-lock.json asks for, unless that is what is there.
 *
 * @param {string} root of the checkout
 * @param {{ log?: (line: string) => void }} [options]
 * @returns {Promise<{ installed: boolean }>}
 */
export async function ensureInstalled(root, { log = console.log } = {}) {
  requireNode(process.versions.node);
  const stampPath = join(root, ".anvil", "installed");
  const stamp = installStamp(root);
  if (stamp !== undefined && stamp === readText(stampPath)) return { installed: false };

  const installed = stamp === undefined || !lockIsInstalled(root);
  if (installed) {
    log("install: npm ci, once");
    const startedAt = Date.now();
    const { code, output } = await runNpm(["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
      cwd: root,
    });
    if (code !== 0) {
      throw new Error(
        `npm ci failed (exit code ${code}). Its last lines:\n${lastLines(output, 20)}\n` +
          "Mend what it says, or look at the whole of it with: npm ci",
      );
    }
    log(`install: done in ${((Date.now() - startedAt) / 1_000).toFixed(1)} s`);
  }
  mkdirSync(join(root, ".anvil"), { recursive: true });
  writeFileSync(stampPath, installStamp(root) ?? "");
  return { installed };
}

/**
 * npm only warns about `engines`; what follows would then fail in words that name no version.
 *
 * @param {string} version
 */
export function requireNode(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new Error(`Node ${version} is too old: install Node 20.19 or newer (24 is what production runs).`);
}

/**
 * What is asked for and what npm says is there, as one hash: it changes when either does.
 *
 * @param {string} root
 * @returns {string | undefined} undefined: nothing is installed
 */
function installStamp(root) {
  const lock = readText(join(root, "package-lock.json"));
  if (lock === undefined)
    throw new Error("package-lock.json is missing: check it out again, then run this again.");
  const present = readText(join(root, "node_modules", ".package-lock.json"));
  return present && createHash("sha256").update(lock).update("\0").update(present).digest("hex");
}

/**
 * Whether somebody's own `npm install` has already done the work: every package of the lock is there in that
 * version. Optional and peer packages may be absent; most are for other systems.
 *
 * @param {string} root
 */
function lockIsInstalled(root) {
  const wanted = readPackages(join(root, "package-lock.json"));
  const present = readPackages(join(root, "node_modules", ".package-lock.json"));
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === "") return true;
    const found = present[path];
    if (!found) return Boolean(entry.optional || entry.peer || entry.devOptional);
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}

/**
 * @typedef {{ version?: string, integrity?: string, optional?: boolean, peer?: boolean, devOptional?: boolean }} LockEntry
 * @param {string} path
 * @returns {Record<string, LockEntry>}
 */
function readPackages(path) {
  return JSON.parse(readFileSync(path, "utf8")).packages ?? {};
}

/** @param {string} path */
function readText(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT") return undefined;
    throw error;
  }
}
