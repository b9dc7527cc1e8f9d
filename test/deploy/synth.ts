// npm run synth -- --stage STAGE [--json FILE]
//
// What `sst deploy --stage STAGE` would create, with the ANVIL_DEPLOY_* settings that are set here. Nothing leaves
// this machine, no AWS account is needed, and secrets are made up.

import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import type { RecordedResource } from "./engine/resource-monitor.js";
import { madeUpSecrets } from "./made-up-secrets.ts";
import { offlineStage } from "./offline-stage.ts";
import { installSstPlatform } from "./sst-platform.ts";
import { stableRecord } from "./stable-record.ts";

const USAGE = "npm run synth -- --stage STAGE [--json FILE]";

try {
  await synth();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}

async function synth(): Promise<void> {
  const { values } = parseArgs({ options: { stage: { type: "string" }, json: { type: "string" } } });
  if (!values.stage) throw new Error(USAGE);
  const missing = await installSstPlatform();
  if (missing) throw new Error(missing);

  const settings = Object.entries(process.env).filter(([name]) => name.startsWith("ANVIL_DEPLOY_"));
  const offline = await offlineStage({
    stage: values.stage,
    settings: Object.fromEntries(settings) as Record<string, string>,
    secrets: madeUpSecrets,
    envFiles: true,
  });
  try {
    const recorded = await offline.deploy();
    const { resources } = recorded;
    if (values.json === undefined) {
      console.log(table(resources));
      console.log(`\n${resources.length} resources. All of their inputs: --json FILE`);
      return;
    }
    await writeFile(values.json, `${JSON.stringify(stableRecord(recorded, offline.folder), null, 2)}\n`);
    console.log(`${resources.length} resources: ${values.json}`);
  } finally {
    await offline.discard();
  }
}

/** One line for each type: how many, and what they are called. Components, which only group others, are left out. */
function table(resources: readonly RecordedResource[]): string {
  const names = new Map<string, string[]>();
  for (const { type, name, custom } of resources) {
    if (custom) names.set(type, [...(names.get(type) ?? []), name]);
  }
  const rows = [...names].sort(([a], [b]) => (a < b ? -1 : 1));
  const width = Math.max(...rows.map(([type]) => type.length));
  return rows
    .map(
      ([type, called]) =>
        `${type.padEnd(width)}  ${String(called.length).padStart(2)}  ${called.sort().join(", ")}`,
    )
    .join("\n");
}
