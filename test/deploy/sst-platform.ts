import { mkdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { runNpm } from "anvil-bootstrap/command";
import { runSst, sstProgram } from "./sst-command.ts";

export const root = fileURLToPath(new URL("../../", import.meta.url));
const platformFolder = join(root, ".sst", "platform");

/** Longer than an install takes: a claim that is older was left behind. */
const INSTALL_MS = 300_000;

/**
 * SST's own sources and providers, which its command line puts into `.sst/platform`: a minute the first time, nothing
 * after that.
 * @returns why it can't be had on this machine; undefined when it is there
 * @throws {Error} when the install fails for another reason
 */
export async function installSstPlatform(): Promise<string | undefined> {
  try {
    sstProgram();
  } catch {
    return `npm has installed no sst program for ${process.platform}-${process.arch}`;
  }
  if (await isInstalled()) return undefined;
  const claim = join(root, ".anvil", "sst-install");
  await mkdir(join(root, ".anvil"), { recursive: true });
  while (!(await claimed(claim))) await delay(500);
  try {
    return (await isInstalled()) ? undefined : await install();
  } finally {
    await rm(claim, { recursive: true, force: true });
  }
}

async function install(): Promise<string | undefined> {
  // The install itself tries for many minutes, and says little of why it failed.
  const asked = await runNpm(
    ["view", "@pulumi/aws", "version", "--fetch-retries=0", "--fetch-timeout=10000"],
    {
      cwd: root,
    },
  );
  if (asked.code !== 0) {
    const [reason = "no answer"] = /\bE[A-Z]{3,}\b/.exec(asked.output) ?? [];
    return `the npm registry, which SST's platform comes from, can't be reached: ${reason}`;
  }
  const { code, output } = await runSst(["install", "--stage", "test"], {
    cwd: root,
    home: join(root, ".anvil", "sst-home"),
  });
  if (code !== 0 || !(await isInstalled())) {
    throw new Error(`sst install failed (exit code ${code}):\n${output}`);
  }
  return undefined;
}

/** Whether it is that of the installed program, with the providers that sst.config.ts names. */
async function isInstalled(): Promise<boolean> {
  const [wanted, present, config, providers] = await Promise.all([
    text(join(root, "node_modules", "sst", "package.json")),
    text(join(platformFolder, "version")),
    text(join(root, "sst.config.ts")),
    text(join(root, ".sst", "provider-lock.json")),
  ]);
  if (!wanted || !config || !providers || present !== JSON.parse(wanted).version) return false;
  const aws = /aws: \{\s*version: "([^"]+)"/.exec(config)?.[1];
  return (JSON.parse(providers) as { name: string; version: string }[]).some(
    ({ name, version }) => name === "aws" && version === aws,
  );
}

/** A folder can be made once: test files run side by side. */
async function claimed(claim: string): Promise<boolean> {
  try {
    await mkdir(claim);
    return true;
  } catch {
    const { mtimeMs } = await stat(claim).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > INSTALL_MS) await rm(claim, { recursive: true, force: true });
    return false;
  }
}

async function text(path: string): Promise<string | undefined> {
  return await readFile(path, "utf8").catch(() => undefined);
}
