import { type Field, fieldLists, type ResolvedSource } from "webhook-anvil/signatures";

/** What tells a delivery that was accepted from others: of a source, or of the provider where no source is known. */
export function dedupeKeyWords(
  {
    name,
    provider,
    identity = "provider",
    split = false,
  }: Pick<ResolvedSource, "provider"> & Partial<ResolvedSource>,
  eventId: string | undefined,
): string {
  const source = name === undefined ? "the source's name" : `the source "${name}"`;
  const of = (what: string) => `${source} and ${what}`;
  if (split && provider.batch) return `${of("the identity of each event in the list")}; one job for each`;
  if (typeof identity === "function") return of("what the source's own identity function says");
  if (identity === "body") return of("the SHA-256 of the body");
  const fallback = of("sha256(signature + body)");
  if (identity === "signature+body") return fallback;
  const { identity: own } = provider;
  const never = own === "each-delivery" || (own?.some((entry) => entry === "each-delivery") ?? false);
  if (eventId === undefined && never)
    return `nothing: each delivery of ${provider.name} is an event of its own`;
  if (eventId === undefined || !provider.identity) return fallback;
  const lists = fieldLists(provider.identity).map((fields) => fields.map(fieldWords).join(" and "));
  return of(`the event id, from ${lists.join(", or ")}`);
}

function fieldWords(field: Field): string {
  if ("header" in field) return `header ${field.header}`;
  if ("form" in field) return `form field ${field.form}`;
  return "body" in field ? `${field.body} of the body` : "a name in the body";
}
