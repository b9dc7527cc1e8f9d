import { providers } from "./providers/index.ts";

/** Names that people look for, of whom others send the webhooks. */
const ALSO_CALLED: Readonly<Record<string, string>> = {
  facebook: "meta",
  instagram: "meta",
  messenger: "meta",
  whatsapp: "meta",
  twitter: "x",
  amazon: "aws-sns",
  eventsub: "twitch",
  outlook: "microsoft-graph",
  sharepoint: "microsoft-graph",
  onedrive: "microsoft-graph",
};

/**
 * What to say about a provider that isn't known: up to three that may be meant, the likeliest first, and where all are
 * listed. Never repeats the name, which may be a secret in the wrong place.
 */
export function unknownProvider(name: unknown): string {
  const near = nearest(typeof name === "string" ? name.toLowerCase() : "");
  const meant = near.length > 0 ? `did you mean ${near.join(" or ")}? ` : "";
  return `unknown provider; ${meant}docs/providers.md lists them all, and docs/add-a-provider.md adds one`;
}

function nearest(name: string): readonly string[] {
  if (name === "" || name.length > 40) return [];
  if (Object.hasOwn(ALSO_CALLED, name)) return [ALSO_CALLED[name] as string];
  return [...providers.keys()]
    .map((known) => ({ known, distance: distance(name, known) }))
    .filter(({ known, distance }) => distance <= Math.max(name.length, known.length) / 3)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ known }) => known);
}

/** Letters to change, add or leave out; less than one where a name is a part of the other. */
function distance(a: string, b: string): number {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (short.length >= 3 && long.includes(short)) return 1 - short.length / long.length;
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const changed = (above[column - 1] as number) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const moved = Math.min(above[column] as number, current[column - 1] as number) + 1;
      current.push(Math.min(changed, moved));
    }
    above = current;
  }
  return above[b.length] as number;
}
