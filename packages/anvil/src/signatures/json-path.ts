/**
 * The values under a dotted path of a parsed body; `[]` stands for every item of a list. Own fields only, and
 * undefined for what isn't there, so that a list keeps its length. A dot in a name stands behind a backslash.
 */
export function valuesAt(payload: unknown, path: string): readonly unknown[] {
  let values: readonly unknown[] = [payload];
  for (const name of path.split(/(?<!\\)\./).map((part) => part.replaceAll("\\.", "."))) {
    const list = name.endsWith("[]");
    const key = list ? name.slice(0, -2) : name;
    if (key !== "") values = values.map((value) => own(value, key));
    if (list) values = values.flatMap((value) => (Array.isArray(value) ? value : [undefined]));
  }
  return values;
}

function own(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

/** The text under a path without lists; undefined when it is another kind or empty. */
export function textAt(payload: unknown, path: string): string | undefined {
  const [value] = valuesAt(payload, path);
  return typeof value === "string" && value !== "" ? value : undefined;
}
