import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The state file that Pulumi keeps in a folder, and that SST's command line reads back.
 *
 * @param {string} backendUrl file://…
 * @param {string} target organization/project/stack
 */
export function checkpoint(backendUrl, target) {
  const [, project = "", stack = ""] = target.split("/");
  const path = join(fileURLToPath(backendUrl), ".pulumi", "stacks", project, `${stack}.json`);
  return {
    /** @returns {any[]} */
    read: () => JSON.parse(readFileSync(path, "utf8")).checkpoint.latest.resources ?? [],
    /** @param {readonly any[]} resources */
    write(resources) {
      const manifest = { time: new Date().toISOString(), magic: "", version: "v3.0.0" };
      const latest = { manifest, ...(resources.length > 0 ? { resources } : {}) };
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, JSON.stringify({ version: 3, checkpoint: { stack: target, latest } }));
    },
  };
}
