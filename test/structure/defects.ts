import type { SourceFile } from "./rules.ts";

/** The defects that people met in production, by id. */
export const DEFECTS: readonly string[] = Array.from(
  { length: 57 },
  (_, index) => `H-${String(index + 1).padStart(2, "0")}`,
);

/**
 * What is wrong with the table of docs/what-can-go-wrong.md: an id without a row or with two, a row whose tests don't
 * exist or don't name the id in a title, a row that says neither where it is shown nor why it can't apply.
 * @param files every file of the repository; a row names them by path, or by name alone in test/defects/
 */
export function defectProblems(page: string, files: readonly SourceFile[]): string[] {
  const rows = page.split("\n").flatMap((line) => {
    const cells = line.split("|").map((cell) => cell.trim());
    return /^H-\d+$/.test(cells[1] ?? "") ? [{ id: cells[1] as string, shown: cells[4] ?? "" }] : [];
  });
  const unknown = rows.filter(({ id }) => !DEFECTS.includes(id)).map(({ id }) => `${id}: no such defect`);
  return unknown.concat(
    DEFECTS.flatMap((id) => {
      const own = rows.filter((row) => row.id === id);
      const [row] = own;
      if (!row) return [`${id}: has no row`];
      if (own.length > 1) return [`${id}: has ${own.length} rows`];
      if (/can't apply: \w/.test(row.shown)) return [];
      const places = [...row.shown.matchAll(/`([^`]+)`/g)].map((match) => match[1] as string);
      if (places.length === 0) return [`${id}: names neither a test nor why it can't apply`];
      return places
        .filter((place) => !titlesUnder(place, files).some((title) => new RegExp(`\\b${id}\\b`).test(title)))
        .map((place) => `${id}: no test in ${place} has the id in its title`);
    }),
  );
}

function titlesUnder(place: string, files: readonly SourceFile[]): string[] {
  const path = place.includes("/") ? place : `test/defects/${place}`;
  return files
    .filter((file) => file.path === path || file.path.startsWith(`${path}/`))
    .filter((file) => /\.(test|contract)\.[jt]s$/.test(file.path))
    .flatMap(({ text }) => titlesOf(text));
}

/** Quoted texts outside comments: a title stands at its `it`, or in the table that its `it` runs through. */
function titlesOf(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => !/^\s*(\/\/|\/?\*)/.test(line))
    .flatMap((line) => [...line.matchAll(/(["'`])(.*?)\1/g)].map((match) => match[2] as string));
}
