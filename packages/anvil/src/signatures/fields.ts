import { formOf } from "./form.ts";
import { valuesAt } from "./json-path.ts";
import { lazyPayload } from "./payload-of.ts";
import type { Field, Provider } from "./provider.ts";
import type { Received } from "./received.ts";

/**
 * The event's own id and type, read from a delivery that has been verified. Whatever the payload holds, this
 * doesn't throw: a field of another kind, an empty one or no JSON at all count as absent.
 */
export function readEventFields(
  provider: Pick<Provider, "identity" | "type">,
  received: Pick<Received, "body" | "header">,
): { eventId?: string; type?: string } {
  const payload = lazyPayload(received);
  const read = (field: Field): readonly (string | undefined)[] => {
    if ("header" in field) return [received.header(field.header)];
    if ("form" in field) return [formOf(received).get(field.form) ?? undefined];
    return valuesAt(payload(), field.body).map((value) => (field.number ? wholeNumber(value) : text(value)));
  };

  const { identity = [] } = provider;
  const ids = identity === "each-delivery" ? [] : identity.flatMap(read);
  const eventId = ids.length > 0 && ids.every(isDistinct) ? joinIds(ids as string[]) : undefined;
  // Of a list, the first item's: a batch has one type or none.
  const [first, ...rest] = provider.type?.map((field) => read(field)[0]) ?? [];
  const type = first ? [first, ...rest.filter((part) => part)].join(".") : undefined;
  return { ...(eventId ? { eventId } : {}), ...(type ? { type } : {}) };
}

/** U+FFFD stands for bytes that are no UTF-8; ids of two events that differ in such bytes would be the same. */
function isDistinct(id: string | undefined): boolean {
  return id !== undefined && id !== "" && !id.includes("\uFFFD");
}

/** Several fields are one id without ambiguity: `["a","b"]` is neither `["a b"]` nor `["ab"]`. */
function joinIds(ids: readonly string[]): string {
  return ids.length === 1 ? (ids[0] as string) : JSON.stringify(ids);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Beyond 2^53 two different numbers read as one. */
function wholeNumber(value: unknown): string | undefined {
  return Number.isSafeInteger(value) ? String(value) : undefined;
}
