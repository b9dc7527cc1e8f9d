import { createHash } from "node:crypto";

/** Tells whether two places hold the same secret, and nothing about it. */
export function fingerprint(secret: string): string {
  return createHash("sha256").update("anvil secret fingerprint\0").update(secret).digest("hex").slice(0, 8);
}
