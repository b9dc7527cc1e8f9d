import { createHash } from "node:crypto";
import type { ResolvedConfig } from "./sources.ts";

/** A source as a process that serves it says so at its start. */
export type ServedSource = {
  readonly source: string;
  readonly provider: string;
  /** A fingerprint of each secret that is valid, the current one first. */
  readonly secrets: readonly string[];
};

/** What a process serves, for its first line of log: after a rotation it tells which secrets really run there. */
export function servedSources(config: ResolvedConfig): ServedSource[] {
  return [...config.sources.values()].map(({ name, provider, secrets }) => ({
    source: name,
    provider: provider.name,
    secrets: secrets.map(fingerprint),
  }));
}

/** Tells whether two places hold the same secret, and nothing about it. */
function fingerprint(secret: string): string {
  return createHash("sha256").update("anvil secret fingerprint\0").update(secret).digest("hex").slice(0, 8);
}
