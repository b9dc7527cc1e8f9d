/** Looks a header up by its lower-case name. */
export type HeaderLookup = (name: string) => string | undefined;

/** Headers as people have them: a Fetch `Headers`, or a plain object with names in any case. */
export type HeaderSource =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** One lookup for every form. Repeated headers are joined with a comma, as in RFC 9110, section 5.3. */
export function headerLookup(headers: HeaderSource): HeaderLookup {
  if (typeof headers.get === "function") {
    const fetchHeaders = headers as { get(name: string): string | null };
    return (name) => fetchHeaders.get(name) ?? undefined;
  }
  const byName = new Map<string, string>();
  for (const [name, value] of Object.entries(
    headers as Record<string, string | readonly string[] | undefined>,
  )) {
    // Null and numbers don't fit the type; who has no types sends them all the same.
    if (value === undefined || value === null) continue;
    const text = (Array.isArray(value) ? value.join(", ") : String(value)).trim();
    const lower = name.toLowerCase();
    const earlier = byName.get(lower);
    byName.set(lower, earlier === undefined ? text : `${earlier}, ${text}`);
  }
  return (name) => byName.get(name);
}
