import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { root } from "./sst-platform.ts";

/** For what is cached under `.anvil`: test files run side by side, and the first that needs it makes it. */
export async function oneAtATime<T>(what: string, work: () => Promise<T>): Promise<T> {
  const claim = join(root, ".anvil", `${what}.claim`);
  await mkdir(join(root, ".anvil"), { recursive: true });
  while (!(await claimed(claim))) await delay(100);
  try {
    return await work();
  } finally {
    await rm(claim, { force: true });
  }
}

async function claimed(claim: string): Promise<boolean> {
  try {
    await writeFile(claim, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    const pid = Number(await readFile(claim, "utf8").catch(() => ""));
    if (pid > 0 && !lives(pid)) await rm(claim, { force: true });
    return false;
  }
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
