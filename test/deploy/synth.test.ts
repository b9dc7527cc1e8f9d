import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { spawnNode, temporaryFolder } from "anvil-testkit";
import { describe, expect, it, onTestFinished } from "vitest";
import { installSstPlatform, root } from "./sst-platform.ts";

const missing = await installSstPlatform();

async function synth(...args: string[]) {
  const process = spawnNode({ entry: "test/deploy/synth.ts", args });
  const { code } = await process.exited;
  return { code, stdout: process.stdout(), stderr: process.stderr() };
}

describe.skipIf(missing)(
  `npm run synth${missing ? ` (skipped: ${missing})` : ""}`,
  { timeout: 120_000 },
  () => {
    it("writes what a deployment would create, the same each time and on each machine", async () => {
      const folder = await temporaryFolder("synth");
      onTestFinished(() => folder.remove());
      const texts: string[] = [];
      for (const name of ["first", "second"]) {
        const file = join(folder.path, `${name}.json`);
        expect(await synth("--stage", "production", "--json", file)).toMatchObject({ code: 0 });
        texts.push(await readFile(file, "utf8"));
      }
      const [first = "", second] = texts;
      expect(first).toBe(second);
      expect(first).not.toContain(root);
      const { outputs, resources } = JSON.parse(first);
      expect(outputs.ingress).toBe("anvil-production-ingress");
      expect(resources.map(({ urn }: { urn: string }) => urn)).toContain(
        "urn:pulumi:production::anvil::sst:aws:Function$aws:lambda/function:Function::IngressFunction",
      );
    });

    it("prints what there is of each type, for people", async () => {
      const { code, stdout } = await synth("--stage", "jane");
      expect(code).toBe(0);
      expect(stdout).toMatch(
        /^aws:lambda\/function:Function +3 {2}IngressFunction, PulseFunction, ReplayFunction$/m,
      );
      expect(stdout).toMatch(/^\d+ resources\./m);
    });

    it("says how it is called", async () => {
      expect(await synth()).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("npm run synth -- --stage"),
      });
    });
  },
);
