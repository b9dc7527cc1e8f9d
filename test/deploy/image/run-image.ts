import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { waitUntil } from "../../../packages/testkit/src/wait-until.ts";
import { type TestProcess, watchProcess } from "../../../packages/testkit/src/watched-process.ts";
import type { Image } from "./build-image.ts";

/** What a container's own process is started by, in namespaces of its own: mounts in them are gone with them. */
const ENTER = `set -e
root=$1 user=$2 workdir=$3 from=$4 to=$5
shift 5
mount --bind "$root" "$root"
[ -z "$from" ] || mount --bind "$from" "$root$to"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -o remount,bind,ro "$root"
exec chroot --userspec="$user" --groups= "$root" env -C "$workdir" "$@"`;

export interface RunOptions {
  /** Added to the image's. Nothing of this process's environment gets in. */
  readonly env?: Readonly<Record<string, string>>;
  /** Instead of the image's. */
  readonly command?: readonly string[];
  /** A folder of this machine's in place of one that the image has. */
  readonly volume?: { readonly from: string; readonly to: string };
}

/**
 * Runs the image's command with its user, folder and environment, on a root file system that is read-only (every
 * mount of it, so there is no writable /tmp either) and as process 1 of a process namespace, where a signal that
 * isn't handled does nothing. The network is this machine's. It ends with this process, however that ends.
 *
 * @returns it, once it runs; its `pid` and signals are those of process 1
 */
export async function runImage(
  image: Image,
  { env = {}, command, volume }: RunOptions = {},
): Promise<TestProcess> {
  const { User, WorkingDir, Env, Cmd, Entrypoint } = image.config;
  const [uid, gid, home] = await account(image.folder, User || "root");
  const ownEnv = Object.fromEntries(
    Env.map((line) => [line.split("=")[0], line.slice(line.indexOf("=") + 1)]),
  );
  const argv = command ?? [...(Entrypoint ?? []), ...Cmd];
  const child = spawn(
    "setpriv",
    [
      ...["--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child"],
      ...["sh", "-c", ENTER, "enter", image.folder, `${uid}:${gid}`, WorkingDir || "/"],
      ...[volume?.from ?? "", volume?.to ?? "", ...argv],
    ],
    { env: { HOME: home, ...ownEnv, ...env }, stdio: ["ignore", "pipe", "pipe"] },
  );
  const outer = watchProcess(child, argv.join(" "));
  const pid = await processOne(outer);
  const signal = (name: NodeJS.Signals): void => {
    // One that has ended is its parent's to tell of.
    if (child.exitCode === null && child.signalCode === null) process.kill(pid, name);
  };
  return {
    ...outer,
    ...{ pid, signal },
    async kill(name = "SIGTERM") {
      signal(name);
      return await outer.exited;
    },
  };
}

/** As this machine knows it. */
async function processOne({ pid, exited }: TestProcess): Promise<number> {
  let ended = false;
  void exited.then(() => {
    ended = true;
  });
  const children = `/proc/${pid}/task/${pid}/children`;
  const found = await waitUntil(async () => ended || Number.parseInt(await readFile(children, "utf8"), 10), {
    what: "the container's process is there",
    intervalMs: 5,
  });
  return found === true ? pid : found;
}

async function account(
  root: string,
  user: string,
): Promise<readonly [uid: string, gid: string, home: string]> {
  const lines = (await readFile(join(root, "etc/passwd"), "utf8")).split("\n").map((line) => line.split(":"));
  const [, , uid, gid, , home] = lines.find(([name, , id]) => name === user || id === user) ?? [];
  if (!uid || !gid || !home) throw new Error(`The image has no user ${user}.`);
  return [uid, gid, home];
}
