import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Inside the checkout's ignored folder, so that even a killed test run leaves nothing elsewhere. */
const parent = fileURLToPath(new URL("../../../.anvil/tmp/", import.meta.url));

export interface TemporaryFolder {
  path: string;
  remove(): Promise<void>;
}

export async function temporaryFolder(name: string): Promise<TemporaryFolder> {
  await mkdir(parent, { recursive: true });
  const path = await mkdtemp(join(parent, `${name}-`));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
