/**
 * The items of a list in a JSON text, as the slices of the text that they are: parsing and printing them would change
 * numbers beyond 2^53, escapes and spaces.
 * @param path to the list, as in `value[]`, `data.events[]` or `[]`; of a name that comes twice the last one counts,
 *   as for JSON.parse
 * @returns undefined when there is no such list
 */
export function jsonItems(text: string, path: string): string[] | undefined {
  const names = path
    .replace(/\[\]$/, "")
    .split(".")
    .filter((name) => name !== "");
  try {
    // Whatever follows reads a text that is known to be JSON.
    JSON.parse(text);
  } catch {
    return undefined;
  }
  let start = skipSpace(text, 0);
  for (const name of names) {
    const found = memberAt(text, start, name);
    if (found === undefined) return undefined;
    start = found;
  }
  if (text[start] !== "[") return undefined;
  const items: string[] = [];
  let at = skipSpace(text, start + 1);
  while (at < text.length && text[at] !== "]") {
    const end = valueEnd(text, at);
    items.push(text.slice(at, end));
    at = skipSpace(text, end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return items;
}

/** Where the value of a member begins. */
function memberAt(text: string, start: number, name: string): number | undefined {
  if (text[start] !== "{") return undefined;
  let found: number | undefined;
  let at = skipSpace(text, start + 1);
  while (at < text.length && text[at] !== "}") {
    const keyEnd = valueEnd(text, at);
    const key = JSON.parse(text.slice(at, keyEnd)) as string;
    const value = skipSpace(text, skipSpace(text, keyEnd) + 1);
    if (key === name) found = value;
    at = skipSpace(text, valueEnd(text, value));
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return found;
}

/** Just behind the value that begins here. */
function valueEnd(text: string, start: number): number {
  if (text[start] === '"') return stringEnd(text, start);
  if (text[start] !== "{" && text[start] !== "[") {
    let at = start;
    while (at < text.length && !/[,\]}\s]/.test(text[at] as string)) at += 1;
    return at;
  }
  let depth = 0;
  let at = start;
  do {
    const char = text[at];
    if (char === '"') {
      at = stringEnd(text, at);
      continue;
    }
    if (char === "{" || char === "[") depth += 1;
    if (char === "}" || char === "]") depth -= 1;
    at += 1;
  } while (depth > 0 && at < text.length);
  return at;
}

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (/[ \t\r\n]/.test(text[at] ?? "")) at += 1;
  return at;
}
