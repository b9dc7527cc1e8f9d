import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { installSstPlatform, root } from "./sst-platform.ts";

const missing = await installSstPlatform();

describe.skipIf(missing)(`sst.config.ts and SST's types${missing ? ` (skipped: ${missing})` : ""}`, () => {
  // The same run checks fixtures/misspelt.sst.ts, whose mistakes must each be an error.
  it("agree, and a misspelt property is an error", () => {
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", "packages/deploy"], {
      cwd: root,
      encoding: "utf8",
    });
    expect(stdout).toBe("");
    expect(status).toBe(0);
  }, 120_000);
});
