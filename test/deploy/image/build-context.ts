import { createHash } from "node:crypto";
import { cp, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "../../../packages/testkit/src/temporary-folder.ts";
import { root } from "../sst-platform.ts";

export interface BuildContext {
  readonly folder: string;
  /** Of the Dockerfile and of all that it copies. */
  readonly hash: string;
  remove(): Promise<void>;
}

/** What the Dockerfile builds from: a copy of it out of the checkout, with the files of `replacedBy` over it. */
export async function buildContext(replacedBy?: string): Promise<BuildContext> {
  const { path: folder, remove } = await temporaryFolder("build-context");
  const dockerfile = await readFile(join(root, "workers/Dockerfile"), "utf8");
  const sources = [...copiedBy(dockerfile), ".dockerignore"];
  for (const source of sources) await cp(join(root, source), join(folder, source), copying);
  if (replacedBy) {
    // In whole: a handler of the checkout's must not stay beside those of the tests.
    await cp(join(replacedBy, "anvil.config.ts"), join(folder, "anvil.config.ts"), copying);
    await cp(join(replacedBy, "workers/handlers"), join(folder, "workers/handlers"), copying);
  }
  return { folder, hash: await hashOf(folder), remove };
}

const copying = {
  recursive: true,
  force: true,
  filter: (path: string) => !/\/(node_modules|dist)$/.test(path),
} as const;

/** The sources of every COPY out of the context. */
function copiedBy(dockerfile: string): Set<string> {
  const copies = dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm);
  return new Set([...copies].flatMap(([, sources]) => (sources as string).split(" ")));
}

async function hashOf(folder: string): Promise<string> {
  const hash = createHash("sha256");
  const names = (await readdir(folder, { recursive: true })).sort();
  for (const name of names) {
    const path = join(folder, name);
    if ((await stat(path)).isFile()) hash.update(`${name}\0`).update(await readFile(path));
  }
  return hash.digest("hex").slice(0, 16);
}
