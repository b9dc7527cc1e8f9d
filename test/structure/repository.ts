import { readdirSync, readFileSync } from "node:fs";
import type { SourceFile } from "./rules.ts";

export const root = new URL("../../", import.meta.url);

/** Every file that is ours: nothing installed, built, hidden, or left behind by a run. */
export function repository(folder = ""): SourceFile[] {
  return readdirSync(new URL(folder, root), { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith(".") || ["node_modules", "dist", "coverage"].includes(entry.name)) return [];
    const path = `${folder}${entry.name}`;
    if (entry.isDirectory()) return repository(`${path}/`);
    return [
      { path, text: /\.(ts|tsx|js|mjs|cjs)$/.test(path) ? readFileSync(new URL(path, root), "utf8") : "" },
    ];
  });
}
