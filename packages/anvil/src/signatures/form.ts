import type { Received } from "./received.ts";

/** The fields of a form body; none when the content type says something else. */
export function formOf({ body, header }: Pick<Received, "body" | "header">): URLSearchParams {
  const mediaType = header("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (mediaType !== "application/x-www-form-urlencoded") return new URLSearchParams();
  return new URLSearchParams(new TextDecoder().decode(body));
}

/** Names and values without anything between them, sorted by name and then by value, repetitions once. */
export function sortedForm(form: URLSearchParams): string {
  const byName = new Map<string, Set<string>>();
  for (const [name, value] of form) byName.set(name, (byName.get(name) ?? new Set()).add(value));
  return [...byName.keys()]
    .sort()
    .map((name) =>
      [...(byName.get(name) as Set<string>)]
        .sort()
        .map((value) => name + value)
        .join(""),
    )
    .join("");
}
