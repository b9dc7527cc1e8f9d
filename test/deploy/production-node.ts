import { secondNode } from "anvil-bootstrap/second-node";
import { oneAtATime } from "./one-at-a-time.ts";
import { root } from "./sst-platform.ts";

/** Node 24, on which functions and containers run: this one, or the one that npm has as a package. */
export async function productionNode(): Promise<{ binary: string } | { skipped: string }> {
  if (Number.parseInt(process.versions.node, 10) >= 24) return { binary: process.execPath };
  return await oneAtATime("node-24", () => secondNode(root));
}
