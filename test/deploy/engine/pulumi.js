// Stands in for the `pulumi` program that SST's command line runs: the program under it is run for real, and what it
// would create is recorded. ANVIL_GRAPH_FILE gets all of it.

import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { checkpoint } from "./checkpoint.js";
import { changedKeys, eventLog } from "./event-log.js";
import { runProgram } from "./run-program.js";

const [command = "", ...args] = process.argv.slice(2);
const backendUrl = process.env.PULUMI_BACKEND_URL ?? "";

/** @param {string} name */
const flags = (name) => args.flatMap((arg, index) => (arg === name ? [args[index + 1] ?? ""] : []));

if (command === "version") console.log("v3.0.0");
else if (command === "stack" && args[0] === "init") checkpoint(backendUrl, args[1] ?? "").write([]);
else if (["up", "preview", "refresh", "destroy"].includes(command)) await update();
else {
  console.error(`test/deploy/engine/pulumi.js has no command ${command} ${args.join(" ")}`);
  process.exit(1);
}

async function update() {
  const [target = ""] = flags("--stack");
  const [organization = "", project = "", stack = ""] = target.split("/");
  const config = Object.fromEntries(flags("--config").map((pair) => splitAt(pair, pair.indexOf("="))));
  const state = checkpoint(backendUrl, target);
  const before = new Map(state.read().map((resource) => [resource.urn, resource]));
  const planning = command === "preview";
  const log = eventLog(flags("--event-log")[0] ?? "", { planning });
  log.begin(config);

  const program = /^main: (.*)$/m.exec(readFileSync("Pulumi.yaml", "utf8"))?.[1] ?? "";
  const run =
    command === "destroy"
      ? { resources: [], outputs: {}, errors: [] }
      : await runProgram({
          program,
          platform: dirname(program),
          target: { organization, project, stack },
          config,
          previous: before,
        });
  const failed = run.errors.length > 0;

  const after = new Map(run.resources.map((resource) => [resource.urn, stateOf(resource)]));
  for (const [urn, resource] of after) {
    const old = before.get(urn);
    if (!old) log.step("create", undefined, resource);
    else log.step(changedKeys(old.inputs, resource.inputs).length > 0 ? "update" : "same", old, resource);
  }
  const gone = failed ? [] : [...before].filter(([urn]) => !after.has(urn));
  for (const [, resource] of gone.reverse()) log.step("delete", resource, undefined);
  for (const message of run.errors) {
    log.error(message);
    console.error(message);
  }
  const changed = log.end();

  if (!planning) state.write([...(failed ? new Map([...before, ...after]) : after).values()]);
  const graphFile = process.env.ANVIL_GRAPH_FILE;
  if (graphFile) writeFileSync(graphFile, JSON.stringify({ ...run, changed, config }));
  // The program may have left timers and connections behind.
  process.exit(failed ? 255 : 0);
}

/** @param {import("./resource-monitor.js").RecordedResource} resource */
function stateOf({ urn, type, custom, id, parent, inputs, outputs, options }) {
  const now = new Date().toISOString();
  const { dependsOn, protect, retainOnDelete } = options;
  return JSON.parse(
    JSON.stringify({
      ...{ urn, type, custom, parent, inputs, outputs, protect, retainOnDelete },
      id: id || undefined,
      dependencies: dependsOn,
      created: now,
      modified: now,
    }),
  );
}

/**
 * @param {string} text
 * @param {number} index
 */
function splitAt(text, index) {
  return [text.slice(0, index), text.slice(index + 1)];
}
