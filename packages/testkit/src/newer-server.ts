import { execFile } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryFolder } from "./temporary-folder.ts";

const run = promisify(execFile);

/** Where one is kept once it was fetched; and beside it why none could be, so that a day passes before the next try. */
const kept = fileURLToPath(new URL("../../../.anvil/newer-redis/", import.meta.url));
const inVain = fileURLToPath(new URL("../../../.anvil/newer-redis.none", import.meta.url));
const TRY_AGAIN_MS = 86_400_000;
const FETCH_LIMIT_MS = 60_000;

export type NewerServer = { readonly server: string } | { readonly missing: string };

/**
 * A Redis or Valkey with WAITAOF (7.2 or later), which many distributions don't have yet: ANVIL_NEWER_REDIS_SERVER,
 * one on the PATH, or on Debian as root the package of its backports, unpacked into `.anvil/` and not installed.
 * For `startRedis({ server })`; without one a test is skipped, with the reason.
 */
export async function findServerWithWaitaof(env: NodeJS.ProcessEnv = process.env): Promise<NewerServer> {
  if (env.ANVIL_NEWER_REDIS_SERVER) return { server: env.ANVIL_NEWER_REDIS_SERVER };
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const onPath = ["valkey-server", "redis-server"].flatMap((name) => folders.map((at) => join(at, name)));
  const unpacked = join(kept, "usr/bin/valkey-server");
  for (const program of [...onPath, unpacked]) if (await isNewer(program)) return { server: program };

  const before = await stat(inVain).catch(() => undefined);
  if (before && Date.now() - before.mtimeMs < TRY_AGAIN_MS) {
    return { missing: (await readFile(inVain, "utf8")).trim() };
  }
  try {
    await fetchFromBackports();
    if (await isNewer(unpacked)) return { server: unpacked };
    throw new Error("what was unpacked doesn't run here");
  } catch (error) {
    const missing = `no server with WAITAOF: ${(error as Error).message.trim().split("\n").at(-1)}`;
    await mkdir(fileURLToPath(new URL("../../../.anvil/", import.meta.url)), { recursive: true });
    await writeFile(inVain, `${missing}\n`);
    return { missing };
  }
}

async function isNewer(program: string): Promise<boolean> {
  try {
    accessSync(program, constants.X_OK);
    const { stdout } = await run(program, ["--version"], { timeout: 10_000 });
    const [, major = 0, minor = 0] = /v=(\d+)\.(\d+)/.exec(stdout)?.map(Number) ?? [];
    return major > 7 || (major === 7 && minor >= 2);
  } catch {
    return false;
  }
}

/** From the archive that this machine uses, with lists and packages of our own: its own apt stays as it is. */
async function fetchFromBackports(): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error("fetching one needs root on Debian");
  const archive = await debianArchive();
  const folder = await temporaryFolder("newer-redis");
  try {
    for (const name of ["lists/partial", "cache/archives/partial", "parts", "root"]) {
      await mkdir(join(folder.path, name), { recursive: true });
    }
    await writeFile(join(folder.path, "sources.list"), archive);
    await writeFile(join(folder.path, "status"), "");
    const options = Object.entries({
      "Dir::State": folder.path,
      "Dir::State::Lists": join(folder.path, "lists"),
      "Dir::State::status": join(folder.path, "status"),
      "Dir::Cache": join(folder.path, "cache"),
      "Dir::Etc::SourceList": join(folder.path, "sources.list"),
      "Dir::Etc::SourceParts": join(folder.path, "parts"),
      "Acquire::Languages": "none",
    }).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
    const within = { cwd: folder.path, timeout: FETCH_LIMIT_MS };
    await run("apt-get", [...options, "update", "-qq"], within);
    // The server's program lies in the tools; its own package is a link to it.
    await run("apt-get", [...options, "download", "-qq", "valkey-server", "valkey-tools"], within);
    for (const file of await readdir(folder.path)) {
      if (file.endsWith(".deb")) await run("dpkg", ["-x", file, "root"], within);
    }
    // Another process may have been quicker; what it has is as good.
    await rename(join(folder.path, "root"), kept).catch(async (error: unknown) => {
      if (!existsSync(join(kept, "usr/bin/valkey-server"))) throw error;
    });
  } finally {
    await rm(folder.path, { recursive: true, force: true });
  }
}

/** A line for the backports of this release, with the address and the keyring of the machine's own sources. */
async function debianArchive(): Promise<string> {
  const release = await readFile("/etc/os-release", "utf8").catch(() => "");
  const codename = /^VERSION_CODENAME=(\w+)$/m.exec(release)?.[1];
  if (!/^ID=debian$/m.test(release) || !codename) throw new Error("this is no Debian to fetch one from");
  const parts = "/etc/apt/sources.list.d";
  const files = (await readdir(parts).catch(() => [])).map((name) => join(parts, name));
  for (const file of files.filter((name) => name.endsWith(".sources"))) {
    for (const stanza of (await readFile(file, "utf8")).split(/\n\s*\n/)) {
      const field = (name: string) => new RegExp(`^${name}:\\s*(.+)$`, "m").exec(stanza)?.[1]?.trim();
      const uri = field("URIs")?.split(/\s+/)[0];
      if (!uri || !field("Suites")?.split(/\s+/).includes(codename)) continue;
      return archiveLine(uri, codename, field("Signed-By"));
    }
  }
  const lists = ["/etc/apt/sources.list", ...files.filter((name) => name.endsWith(".list"))];
  for (const file of lists) {
    const text = await readFile(file, "utf8").catch(() => "");
    const found = new RegExp(`^deb\\s+(?:\\[([^\\]]*)\\]\\s+)?(\\S+)\\s+${codename}\\s`, "m").exec(text);
    if (found?.[2]) return archiveLine(found[2], codename, /signed-by=(\S+)/.exec(found[1] ?? "")?.[1]);
  }
  throw new Error(`the sources of apt name no archive of ${codename}`);
}

function archiveLine(uri: string, codename: string, keyring: string | undefined): string {
  const signed = keyring?.startsWith("/") ? `[signed-by=${keyring}] ` : "";
  return `deb ${signed}${uri} ${codename}-backports main\n`;
}
