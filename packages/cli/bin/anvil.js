#!/usr/bin/env node
// Runs from a checkout with nothing built, and from the published package. Plain JavaScript, because it is what
// teaches Node to load the rest: the sources here, and the user's anvil.config.ts and handlers anywhere.

import { existsSync } from "node:fs";
import { register as loadTypeScriptForRequire } from "tsx/cjs/api";
import { register as loadTypeScriptForImport } from "tsx/esm/api";
import { readWorkspaceSources } from "./workspace-sources.js";

const sources = new URL("../src/main.ts", import.meta.url);
const inCheckout = existsSync(sources);

loadTypeScriptForImport();
// A .ts file in a folder whose package.json doesn't say "module" is CommonJS to Node.
loadTypeScriptForRequire();
if (inCheckout) readWorkspaceSources();

/** @type {typeof import("../src/main.ts")} */
const { main } = await import(inCheckout ? sources.href : new URL("../dist/main.js", import.meta.url).href);
process.exitCode = await main(process.argv.slice(2), process.env);
