import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { lastLines, runCommand } from "anvil-bootstrap/command";
import { oneAtATime } from "../one-at-a-time.ts";
import { productionNode } from "../production-node.ts";
import { root } from "../sst-platform.ts";

/** Images and layers, apart from whatever this machine has of its own. */
const store = join(root, ".anvil", "container-store");
/** Layers are never removed one by one: past this many all go, and the next build makes what it needs. */
const MAX_LAYERS = 60;

/** Builds and runs no container: it reads a Dockerfile, and needs neither a daemon nor Docker. */
export interface Buildah {
  /** @returns its standard output and error @throws {Error} with them, when it fails */
  run(...args: readonly string[]): Promise<string>;
  /** Whether a build may keep its steps: cheap where a layer holds only what changed. */
  readonly keepsLayers: boolean;
}

let missing: Promise<string | undefined> | undefined;

/**
 * Installs buildah where that can be done without asking.
 * @returns why images can't be built and run here; undefined when they can
 */
export function imagesImpossible(): Promise<string | undefined> {
  missing ??= oneAtATime("buildah", findObstacle);
  return missing;
}

async function findObstacle(): Promise<string | undefined> {
  if (process.platform !== "linux") return `images are built on Linux; this is ${process.platform}`;
  if (process.getuid?.() !== 0) return "building and running images needs root";
  const node = await productionNode();
  if ("skipped" in node) return node.skipped;
  // The very thing that run-image.ts does: a container with few rights may not.
  const { code, output } = await runCommand("unshare", ["--mount", "--pid", "--fork", "true"]);
  if (code !== 0) return `no namespaces can be made here (${lastLines(output, 1)})`;
  return (await isInstalled()) ? undefined : await install();
}

async function isInstalled(): Promise<boolean> {
  return (await runCommand("buildah", ["--version"])).code === 0;
}

async function install(): Promise<string | undefined> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [
    ["update", "-qq"],
    ["install", "-y", "-qq", "--no-install-recommends", "buildah", "crun"],
  ]) {
    const { code, output } = await runCommand("apt-get", args, { env });
    if (code !== 0) return `buildah isn't installed, and apt-get ${args[0]} failed (${lastLines(output, 1)})`;
  }
  return (await isInstalled()) ? undefined : "apt-get installed buildah, but it can't be run";
}

export async function openBuildah(): Promise<Buildah> {
  await trim();
  const run = async (driver: string, args: readonly string[]) => {
    const own = ["--root", join(store, driver), "--runroot", join(store, `${driver}-run`)];
    return await runCommand("buildah", [...own, "--storage-driver", driver, ...args]);
  };
  // Inside a container it may be impossible; copies of everything always work.
  const driver = (await run("overlay", ["images"])).code === 0 ? "overlay" : "vfs";
  return {
    keepsLayers: driver === "overlay",
    async run(...args) {
      const { code, output } = await run(driver, args);
      if (code === 0) return output.trim();
      throw new Error(`buildah ${args[0]} failed (exit code ${code}):\n${lastLines(output, 40)}`);
    },
  };
}

async function trim(): Promise<void> {
  const layers = await readdir(join(store, "overlay", "overlay")).catch(() => []);
  if (layers.length > MAX_LAYERS) await rm(store, { recursive: true, force: true });
}
