import { execFile } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryFolder } from "anvil-testkit";
import { publint } from "publint";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));
const source = join(root, "packages/anvil");

/** The library as npm gets it: built, without its sources, loaded by plain Node. */
describe("the published package", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let installed: string;
  beforeAll(async () => {
    folder = await temporaryFolder("published");
    installed = join(folder.path, "node_modules/webhook-anvil");
    await mkdir(installed, { recursive: true });
    await cp(join(source, "package.json"), join(installed, "package.json"));
    await run(process.execPath, [
      join(root, "node_modules/typescript/bin/tsc"),
      ...["-p", join(source, "tsconfig.build.json"), "--outDir", join(installed, "dist")],
    ]);
  });
  afterAll(() => folder.remove());

  it("loads every entry from its build, starts nothing, and ends by itself", async () => {
    const { exports } = JSON.parse(await readFile(join(source, "package.json"), "utf8")) as {
      exports: object;
    };
    const names = Object.keys(exports).map((entry) => entry.replace(/^\./, "webhook-anvil"));
    const script = join(folder.path, "load.mjs");
    await writeFile(
      script,
      `for (const name of ${JSON.stringify(names)}) {
        const loaded = await import(name);
        console.log(name, import.meta.resolve(name).includes("/dist/"), Object.keys(loaded).length > 0);
      }
      const { createServer } = await import("webhook-anvil");
      const app = createServer({ secret: "made-up-secret" });
      console.log((await app.request("/healthz")).status);`,
    );
    const { stdout, stderr } = await run(process.execPath, [script], { timeout: 15_000 });
    expect(stderr).toBe("");
    expect(stdout.trim().split("\n")).toEqual([...names.map((name) => `${name} true true`), "200"]);
  });

  it("pleases publint", async () => {
    const { messages } = await publint({ pkgDir: installed, pack: false, strict: true });
    // The sources' own condition points at files that aren't published; only this repository asks for it.
    const about = messages.filter((message) => !JSON.stringify(message).includes("anvil-source"));
    expect(about).toEqual([]);
  });
});
