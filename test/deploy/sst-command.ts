import { chmod, mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { runCommand } from "anvil-bootstrap/command";

export interface SstResult {
  readonly code: number;
  /** Both streams, without colours. */
  readonly output: string;
}

export interface SstOptions {
  /** The folder of sst.config.ts. */
  readonly cwd: string;
  /** SST's configuration folder for this command, so that it never looks into the user's. */
  readonly home: string;
  /** Where its AWS calls go; without one they go nowhere. */
  readonly awsUrl?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const require = createRequire(import.meta.url);
const stub = fileURLToPath(new URL("engine/pulumi.js", import.meta.url));

/** Runs SST's unmodified command line with nothing behind it but what is here. */
export async function runSst(args: readonly string[], options: SstOptions): Promise<SstResult> {
  const bin = join(options.home, "sst", "bin");
  await mkdir(bin, { recursive: true });
  const pulumi = join(bin, "pulumi");
  await writeFile(pulumi, `#!/bin/sh\nexec '${process.execPath}' '${stub}' "$@"\n`);
  await chmod(pulumi, 0o755);

  const { code, output } = await runCommand(sstProgram(), args, {
    cwd: options.cwd,
    env: environment(options),
  });
  return { code, output: stripVTControlCharacters(output) };
}

/**
 * The program that the npm package `sst` starts on this system.
 * @throws {Error} when npm installed none
 */
export function sstProgram(): string {
  return require.resolve(`sst-${process.platform}-${process.arch}/bin/sst`);
}

function environment({ home, awsUrl = "http://127.0.0.1:1", env = {} }: SstOptions): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !/^(AWS_|SST_|PULUMI_|ANVIL_DEPLOY_|VITEST|TEST$|NODE_ENV$|NODE_OPTIONS$|__VITEST)/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    XDG_CONFIG_HOME: home,
    SST_NO_BUN: "1",
    SST_SKIP_DEPENDENCY_CHECK: "1",
    SST_TELEMETRY_DISABLED: "1",
    DO_NOT_TRACK: "1",
    CI: "1",
    AWS_ENDPOINT_URL: awsUrl,
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_REGION: "us-east-1",
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    ...env,
  };
}
