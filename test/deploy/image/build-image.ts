import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { oneAtATime } from "../one-at-a-time.ts";
import { root } from "../sst-platform.ts";
import { buildContext } from "./build-context.ts";
import { openBuildah } from "./buildah.ts";
import { standInImage } from "./stand-in.ts";

export interface Image {
  /** All of its files. */
  readonly folder: string;
  readonly config: ImageConfig;
  /** Each step that made it, as `docker history` shows it. */
  readonly history: readonly string[];
  /** What it adds to its base, uncompressed. */
  readonly addedBytes: number;
}

/** As Docker writes it. */
interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Cmd: readonly string[];
  readonly Entrypoint: readonly string[] | null;
  readonly WorkingDir: string;
  readonly ExposedPorts: Readonly<Record<string, object>>;
  readonly Healthcheck?: {
    readonly Test: readonly string[];
    readonly Interval: number;
    readonly Retries: number;
  };
}

export interface ImageOptions {
  readonly target: "worker" | "ingress";
  /** A folder with an `anvil.config.ts` and `workers/handlers` that take the place of the checkout's. */
  readonly replacedBy?: string;
}

const cache = join(root, ".anvil", "images");

/**
 * Builds workers/Dockerfile, on the stand-in for its base. Images are kept until what they are made of changes.
 * @throws {Error} where `imagesImpossible` says why
 */
export async function buildImage({ target, replacedBy }: ImageOptions): Promise<Image> {
  const context = await buildContext(replacedBy);
  try {
    const variant = replacedBy ? `${target}-replaced` : target;
    const kept = join(cache, `${variant}-${context.hash}`);
    return await oneAtATime("images", async () => {
      if (!(await keptImages()).includes(`${variant}-${context.hash}`)) {
        await forgetOthers(variant);
        await build(context.folder, target, kept);
      }
      return { ...JSON.parse(await readFile(join(kept, "image.json"), "utf8")), folder: join(kept, "files") };
    });
  } finally {
    await context.remove();
  }
}

async function keptImages(): Promise<string[]> {
  return await readdir(cache).catch(() => []);
}

async function forgetOthers(variant: string): Promise<void> {
  const others = (await keptImages()).filter((name) => name.replace(/-[0-9a-f]{16}$/, "") === variant);
  for (const name of others) await rm(join(cache, name), { recursive: true, force: true });
}

async function build(context: string, target: string, to: string): Promise<void> {
  const buildah = await openBuildah();
  const base = await standInImage(buildah);
  const name = `localhost/anvil-${target}`;
  const making = `${to}.making`;
  await rm(making, { recursive: true, force: true });
  await mkdir(making, { recursive: true });
  await buildah.run(
    ...["build", "--isolation", "chroot", "--pull-never", "--format", "docker"],
    ...(buildah.keepsLayers ? ["--layers"] : []),
    ...["--build-arg", `NODE_IMAGE=${base}`, "--file", join(context, "workers/Dockerfile")],
    ...["--target", target, "--tag", name, "--output", `type=local,dest=${join(making, "files")}`, context],
  );
  // buildah makes it for root alone.
  await chmod(join(making, "files"), 0o755);
  const { Docker, History, Manifest } = JSON.parse(await buildah.run("inspect", "--type", "image", name)) as {
    Docker: { config: ImageConfig };
    History: { created_by: string }[];
    Manifest: string;
  };
  // The stand-in is one layer, the first.
  const [, ...layers] = (JSON.parse(Manifest) as { layers: { size: number }[] }).layers;
  const image: Omit<Image, "folder"> = {
    config: Docker.config,
    history: History.map(({ created_by }) => created_by),
    addedBytes: layers.reduce((sum, { size }) => sum + size, 0),
  };
  await writeFile(join(making, "image.json"), JSON.stringify(image, null, 2));
  await rename(making, to);
}
