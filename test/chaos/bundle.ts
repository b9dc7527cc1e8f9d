import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { FLEET, type Role } from "./plan.ts";

const REQUIRE =
  "import{createRequire as makeRequire}from'node:module';const require=makeRequire(import.meta.url);";

/**
 * One file for each role, as a deploy ships it: a process that is killed a thousand times should spend its time at
 * work, and not on compiling. @returns the file of each role
 */
export async function bundleFleet(folder: string): Promise<Readonly<Record<Role, string>>> {
  const roles = Object.keys(FLEET) as Role[];
  await build({
    entryPoints: roles.map((role) => fileURLToPath(new URL(`processes/${role}.ts`, import.meta.url))),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["anvil-source"],
    logLevel: "warning",
    banner: { js: REQUIRE },
  });
  return Object.fromEntries(roles.map((role) => [role, `${folder}/${role}.mjs`])) as Record<Role, string>;
}
