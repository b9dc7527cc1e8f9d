import { copyFile, cp, mkdir, readFile, realpath, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runCommand, runNpm } from "anvil-bootstrap/command";
import { temporaryFolder } from "../../../packages/testkit/src/temporary-folder.ts";
import { productionNode } from "../production-node.ts";
import type { Buildah } from "./buildah.ts";

/** What the Dockerfile's steps and the tests run, besides Node and npm. */
const PROGRAMS = ["sh", "env", "id", "cat", "ls", "touch"];
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

const ACCOUNTS = {
  passwd: "root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n",
  group: "root:x:0:\nnode:x:1000:\n",
};

/**
 * A stand-in for docker.io/library/node:24-slim, since no registry of images is needed here: a real Node 24 and this
 * machine's npm, shell and C library, in the places where the real one has them.
 * @returns its name
 */
export async function standInImage(buildah: Buildah): Promise<string> {
  const node = await productionNode();
  if ("skipped" in node) throw new Error(node.skipped);
  const { output: version } = await runCommand(node.binary, ["--version"]);
  const name = `localhost/anvil-node-stand-in:${version.trim()}`;
  const known = await buildah.run("images", "--format", "{{.Name}}:{{.Tag}}");
  if (known.split("\n").includes(name)) return name;

  const folder = await temporaryFolder("stand-in");
  try {
    await fill(folder.path, node.binary);
    const container = await buildah.run("from", "--pull-never", "scratch");
    await buildah.run("add", "--quiet", container, folder.path, "/");
    const path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    await buildah.run("config", "--env", path, "--cmd", '["node"]', container);
    await buildah.run("commit", "--quiet", "--rm", "--format", "docker", container, name);
    return name;
  } finally {
    await folder.remove();
  }
}

async function fill(root: string, node: string): Promise<void> {
  for (const folder of [
    "usr/bin",
    "usr/lib",
    "usr/lib64",
    "usr/local/bin",
    "usr/local/etc",
    "usr/local/lib",
  ]) {
    await mkdir(join(root, folder), { recursive: true });
  }
  for (const folder of ["proc", "dev", "root", "home/node", "etc/ssl/certs"]) {
    await mkdir(join(root, folder), { recursive: true });
  }
  await mkdir(join(root, "tmp"), { mode: 0o1777 });
  for (const name of ["bin", "lib", "lib64"]) await symlink(`usr/${name}`, join(root, name));
  for (const [name, text] of Object.entries(ACCOUNTS)) await writeFile(join(root, "etc", name), text);

  const programs = await Promise.all(PROGRAMS.map(onPath));
  for (const program of programs)
    await copyFile(program, join(root, "usr/bin", program.split("/").at(-1) ?? ""));
  await copyFile(node, join(root, "usr/local/bin/node"));
  for (const library of await librariesOf([...programs, node])) {
    await mkdir(join(root, dirname(library)), { recursive: true });
    await copyFile(library, join(root, library));
  }
  await addNpm(root);
}

async function onPath(program: string): Promise<string> {
  const { code, output } = await runCommand("sh", ["-c", `command -v ${program}`]);
  if (code !== 0) throw new Error(`There is no ${program} on this machine.`);
  return output.trim();
}

async function librariesOf(programs: readonly string[]): Promise<Set<string>> {
  const { output } = await runCommand("ldd", programs);
  return new Set([...output.matchAll(/\s(\/\S+\.so\S*)/g)].map(([, path]) => path as string));
}

/** With this machine's registry and certificates, where it has others than npm's own. */
async function addNpm(root: string): Promise<void> {
  const npm = dirname(dirname(await realpath(await onPath("npm"))));
  await cp(npm, join(root, "usr/local/lib/node_modules/npm"), { recursive: true, dereference: true });
  await symlink("../lib/node_modules/npm/bin/npm-cli.js", join(root, "usr/local/bin/npm"));
  const registry = (await runNpm(["config", "get", "registry"])).output.trim();
  const settings = [`registry=${registry}`, "update-notifier=false"];
  const certificates = process.env.NODE_EXTRA_CA_CERTS;
  if (certificates) {
    await writeFile(join(root, CERTIFICATES), await readFile(certificates));
    settings.push(`cafile=${CERTIFICATES}`);
  }
  await writeFile(join(root, "usr/local/etc/npmrc"), `${settings.join("\n")}\n`);
}
