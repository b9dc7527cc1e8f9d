import type { Recorded } from "./offline-stage.ts";

/**
 * A deployment for people to read and to compare: sorted, and without what differs from one machine or one deployment
 * to the next (the folder, random ends of names, hashes of code, SST's own code).
 */
export function stableRecord({ outputs, resources }: Recorded, folder: string): object {
  const masked = (text: string): string =>
    text
      .replaceAll(folder, "<checkout>")
      // SST ends a physical name with eight of these letters.
      .replace(/-[abcdefhkmnorstuvwxz]{8}(?![A-Za-z0-9])/g, "-<random>")
      .replace(/\b[0-9a-f]{64}\b/g, "<hash>");
  const shown = resources
    .map(({ urn, type, name, inputs: { __provider, ...inputs }, options, secretInputs }) => ({
      ...{ urn, type, name, inputs, options, secretInputs },
    }))
    .sort((a, b) => (a.urn < b.urn ? -1 : 1));
  return tidy({ outputs, resources: shown }, masked);
}

/** With every text masked, and the keys of every object in order. */
function tidy<T>(value: T, masked: (text: string) => string): T {
  if (typeof value === "string") return masked(value) as T;
  if (Array.isArray(value)) return value.map((item) => tidy(item, masked)) as T;
  if (typeof value !== "object" || value === null) return value;
  const keys = Object.keys(value).sort() as (keyof T)[];
  return Object.fromEntries(keys.map((key) => [key, tidy(value[key], masked)])) as T;
}
