import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sharedRedisUrl, temporaryFolder, uniquePrefix } from "anvil-testkit";
import { expect, onTestFinished, test } from "vitest";
import { anvil, startAnvil } from "../fixtures/anvil-process.ts";
import { runHere } from "../fixtures/run-here.ts";

async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await temporaryFolder("config");
  onTestFinished(() => folder.remove());
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text);
  return folder.path;
}

async function firstLine(cwd: string, env: Record<string, string>) {
  const ingress = startAnvil(["ingress"], {
    cwd,
    env: { REDIS_URL: sharedRedisUrl(), PORT: "0", HOST: "127.0.0.1", ...env },
  });
  await ingress.line(/listening on/);
  ingress.signal("SIGTERM");
  await ingress.exited;
  return JSON.parse(ingress.stdout().split("\n")[0] as string);
}

const GITHUB = `import { defineConfig, env } from "webhook-anvil/config";
export default defineConfig({
  sources: { github: { provider: "github", secret: env("GITHUB_SECRET") } },
  queue: "from-file",
  prefix: "${uniquePrefix()}",
});
`;

test("without a file there is the default source, and WEBHOOK_SECRET is all it takes", async () => {
  const cwd = await folderWith({});
  const line = await firstLine(cwd, { WEBHOOK_SECRET: "a-secret-of-the-tests" });
  expect(line).toMatchObject({ sources: [{ source: "default", provider: "hmac" }], queue: "webhooks" });
});

test("anvil.config.ts of the current folder is read, its queue too; ANVIL_QUEUE and --queue go before it", async () => {
  const cwd = await folderWith({ "anvil.config.ts": GITHUB });
  const env = { GITHUB_SECRET: "a-secret-of-the-tests" };
  const line = await firstLine(cwd, env);
  expect(line).toMatchObject({
    sources: [{ source: "github", url: expect.stringMatching(/\/webhooks\/github$/) }],
    queue: "from-file",
  });
  const queueOf = async (args: string[], more: Record<string, string> = {}) => {
    const { stdout } = await runHere(["stats", "--json", ...args], {
      cwd,
      env: { REDIS_URL: sharedRedisUrl(), ...more },
    });
    return JSON.parse(stdout).queue;
  };
  expect(await queueOf([])).toBe("from-file");
  expect(await queueOf([], { ANVIL_QUEUE: "from-env" })).toBe("from-env");
  expect(await queueOf(["--queue", "typed"], { ANVIL_QUEUE: "from-env" })).toBe("typed");
});

test("ANVIL_CONFIG names another; a CommonJS folder and plain JavaScript do as well", async () => {
  const cwd = await folderWith({
    "package.json": '{ "type": "commonjs" }',
    "other.ts":
      'const name: string = "shop";\nexport default { sources: { [name]: { provider: "hmac", secret: { env: "S" } } } };',
    "anvil.config.mjs": 'export default { sources: { plain: { provider: "hmac", secret: { env: "S" } } } };',
  });
  const env = { S: "a-secret-of-the-tests" };
  expect((await firstLine(cwd, env)).sources).toMatchObject([{ source: "plain" }]);
  expect((await firstLine(cwd, { ...env, ANVIL_CONFIG: "other.ts" })).sources).toMatchObject([
    { source: "shop" },
  ]);
});

test("a file that can't be used is named in one sentence", async () => {
  const cwd = await folderWith({
    "syntax.ts": "export default {",
    "throws.ts": 'throw new Error("no such\\nluck");',
    "empty.ts": "export const sources = {};",
    "text.ts": 'export default "hmac";',
    "misspelt.ts": "export default { soruces: {} };",
  });
  const messageOf = async (file: string, run: typeof anvil | typeof runHere = runHere) => {
    const { code, stderr } = await run(["ingress"], { cwd, env: { ANVIL_CONFIG: file } });
    expect(code).toBe(1);
    return stderr;
  };
  expect(await messageOf("syntax.ts", anvil)).toMatch(/^anvil: syntax\.ts can't be loaded: [^\n]+\n$/);
  expect(await messageOf("throws.ts", anvil)).toBe("anvil: throws.ts can't be loaded: no such luck\n");
  expect(await messageOf("empty.ts")).toMatch(
    /^anvil: empty\.ts has no default export; it begins with [^\n]+\n$/,
  );
  expect(await messageOf("text.ts")).toMatch(/^anvil: text\.ts exports no configuration[^\n]+\n$/);
  expect(await messageOf("misspelt.ts")).toMatch(/^anvil: soruces: unknown setting; known are sources/m);
});
