import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runNpm } from "./command.js";
import { temporaryFolder } from "./fixtures/temporary.js";
import { ensureInstalled, requireNode } from "./install.js";

/** A project whose only package is its own workspace: npm asks no registry for it. */
async function project() {
  const root = temporaryFolder();
  mkdirSync(join(root, "packages", "part"), { recursive: true });
  writeJson(join(root, "package.json"), { name: "project", version: "1.0.0", workspaces: ["packages/*"] });
  writeJson(join(root, "packages", "part", "package.json"), { name: "part", version: "1.0.0" });
  const { code, output } = await runNpm(["install", "--package-lock-only", "--offline"], { cwd: root });
  expect(code, output).toBe(0);
  /** @type {string[]} */
  const said = [];
  return { root, said, ensure: () => ensureInstalled(root, { log: (line) => said.push(line) }) };
}

/**
 * @param {string} path
 * @param {unknown} value
 */
function writeJson(path, value) {
  writeFileSync(path, JSON.stringify(value, undefined, 2));
}

describe("ensureInstalled", () => {
  it("installs once, in two lines, and again when what is there is gone", async () => {
    const { root, said, ensure } = await project();
    expect(await ensure()).toEqual({ installed: true });
    expect(said).toEqual(["install: npm ci, once", expect.stringMatching(/^install: done in \d+\.\d s$/)]);
    expect(existsSync(join(root, "node_modules", "part"))).toBe(true);

    said.length = 0;
    expect(await ensure()).toEqual({ installed: false });
    expect(said).toEqual([]);

    rmSync(join(root, "node_modules"), { recursive: true });
    expect(await ensure()).toEqual({ installed: true });
  });

  it("takes what somebody has installed by hand", async () => {
    const { root, ensure } = await project();
    expect((await runNpm(["install", "--offline"], { cwd: root })).code).toBe(0);
    expect(await ensure()).toEqual({ installed: false });
  });

  it("installs again when the lock asks for another version", async () => {
    const { root, ensure } = await project();
    await ensure();
    const path = join(root, "node_modules", ".package-lock.json");
    const present = JSON.parse(readFileSync(path, "utf8"));
    present.packages["packages/part"].version = "0.9.0";
    writeJson(path, present);
    expect(await ensure()).toEqual({ installed: true });
  });

  it("shows npm's last lines and the next step when it fails", async () => {
    const { root, ensure } = await project();
    writeFileSync(join(root, "package.json"), "{ not json");
    const failure = ensure();
    await expect(failure).rejects.toThrow(/npm ci failed \(exit code 1\)[\s\S]*package\.json[\s\S]*npm ci$/);
  });
});

it("requireNode names the version that is too old", () => {
  expect(() => requireNode("20.18.3")).toThrow("Node 20.18.3 is too old: install Node 20.19 or newer");
  expect(() => requireNode("18.20.0")).toThrow();
  for (const fine of ["20.19.0", "20.20.2", "22.1.0", "24.0.0"]) requireNode(fine);
});
