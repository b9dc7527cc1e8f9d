import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "../../packages/testkit/src/temporary-folder.ts";
import type { RecordedResource } from "./engine/resource-monitor.js";
import { startFakeAws } from "./fake-aws.ts";
import { runSst, type SstResult } from "./sst-command.ts";
import { root } from "./sst-platform.ts";

/** What a deployment would create. */
export interface Recorded {
  readonly resources: readonly RecordedResource[];
  readonly outputs: Readonly<Record<string, unknown>>;
  /** What SST handed to the providers, as `aws:region`. */
  readonly config: Readonly<Record<string, string>>;
  /** What was done to which resource, and because of which inputs; nothing of those that stayed the same. */
  readonly changed: readonly string[];
}

export interface OfflineStage {
  /** A copy of the checkout in links: SST's artifacts of this stage are under `.sst` here. */
  readonly folder: string;
  /** `sst <args> --stage <stage>`. */
  sst(...args: string[]): Promise<SstResult>;
  /** `sst deploy`. @throws {Error} with what it printed, when it fails */
  deploy(): Promise<Recorded>;
  /** Other settings, from the next command on. */
  configure(settings: Readonly<Record<string, string>>): void;
  /** Takes everything away that it has made. */
  discard(): Promise<void>;
}

export interface OfflineStageOptions {
  readonly stage: string;
  /** ANVIL_DEPLOY_* */
  readonly settings?: Readonly<Record<string, string>>;
  /** By the name that `sst secret set` takes. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Whether the checkout's `.env` files count, as they do in a real deployment. Default: no. */
  readonly envFiles?: boolean;
}

/** A stage that SST's unmodified command line deploys, to an AWS that isn't there. */
export async function offlineStage({
  stage,
  settings = {},
  secrets = {},
  envFiles = false,
}: OfflineStageOptions): Promise<OfflineStage> {
  const temporary = await temporaryFolder(`sst-${stage}`);
  const folder = join(temporary.path, "checkout");
  const graphFile = join(temporary.path, "graph.json");
  await linkCheckout(folder, (name) => envFiles || !name.startsWith(".env"));
  const aws = await startFakeAws();
  let current = settings;
  const sst = (...args: string[]) =>
    runSst([...args, "--stage", stage], {
      cwd: folder,
      home: join(temporary.path, "home"),
      awsUrl: aws.url,
      env: { ...current, ANVIL_GRAPH_FILE: graphFile },
    });
  if (Object.keys(secrets).length > 0) {
    const file = join(temporary.path, "secrets.env");
    await writeFile(
      file,
      Object.entries(secrets)
        .map(([name, value]) => `${name}='${value}'\n`)
        .join(""),
    );
    succeeded(await sst("secret", "load", file));
  }
  return {
    folder,
    sst,
    async deploy() {
      succeeded(await sst("deploy"));
      return JSON.parse(await readFile(graphFile, "utf8")) as Recorded;
    },
    configure(changed) {
      current = changed;
    },
    async discard() {
      aws.close();
      await temporary.remove();
    },
  };
}

/**
 * SST writes into `.sst` beside its configuration, and two deployments at once would write over each other, or over
 * the user's own. The platform alone is shared.
 *
 * @param wanted whether a name at the checkout's root is one of them
 */
async function linkCheckout(folder: string, wanted: (name: string) => boolean): Promise<void> {
  await mkdir(join(folder, ".sst"), { recursive: true });
  const own = new Set([".sst", ".anvil", ".git"]);
  const names = (await readdir(root)).filter((name) => !own.has(name) && wanted(name));
  for (const name of [...names, ".sst/platform", ".sst/provider-lock.json"]) {
    await symlink(join(root, name), join(folder, name));
  }
}

function succeeded({ code, output }: SstResult): void {
  if (code !== 0) throw new Error(`sst ended with exit code ${code}:\n${output}`);
}
