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
    if ("nameBeside" in field) return [nameBeside(payload(), field.nameBeside)];
    return valuesAt(payload(), field.body).map((value) => (field.number ? wholeNumber(value) : text(value)));
  };

  const eventId = firstOf(fieldLists(provider.identity), (fields) => {
    const ids = fields.flatMap(read);
    return ids.length > 0 && ids.every(isDistinct) ? joinIds(ids as string[]) : undefined;
  });
  const type = firstOf(fieldLists(provider.type), (fields) => {
    // Of a list, the first item's: a batch has one type or none.
    const [first, ...rest] = fields.map((field) => read(field)[0]);
    return first ? [first, ...rest.filter((part) => part)].join(".") : undefined;
  });
  return { ...(eventId ? { eventId } : {}), ...(type ? { type } : {}) };
}

/** The lists of a row's setting, in their order, however many it has. */
export function fieldLists(setting: Provider["identity"]): readonly (readonly Field[])[] {
  if (setting === undefined || setting === "each-delivery") return [];
  const several = setting.some((entry) => Array.isArray(entry) || entry === "each-delivery");
  if (!several) return [setting as readonly Field[]];
  return (setting as readonly (readonly Field[] | "each-delivery")[]).filter(
    (entry) => entry !== "each-delivery",
  );
}

/** Whether a delivery without an id is never a repetition of another. */
export function isNeverRepeated({ identity }: Pick<Provider, "identity">): boolean {
  return identity === "each-delivery" || Boolean(identity?.some((entry) => entry === "each-delivery"));
}

function firstOf<T>(lists: readonly T[], read: (list: T) => string | undefined): string | undefined {
  for (const list of lists) {
    const value = read(list);
    if (value !== undefined) return value;
  }
  return undefined;
}

function nameBeside(payload: unknown, others: readonly string[]): string | undefined {
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) return undefined;
  return Object.keys(payload).find((name) => !others.includes(name));
}

/** U+FFFD stands for bytes that are no UTF-8; ids of two events that differ in such bytes would be the same. */
function isDistinct(id: string | undefined): boolean {
  return id !== undefined && id !== "" && !id.includes("\uFFFD");
}

/** Several fields are one id without ambiguity: `["a","b"]` is neither `["a b"]` nor `["ab"]`, nor the text of one id. */
function joinIds(ids: readonly string[]): string {
  const [only = "", ...more] = ids;
  return more.length === 0 && !only.startsWith("[") ? only : JSON.stringify(ids);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Beyond 2^53 two different numbers read as one. */
function wholeNumber(value: unknown): string | undefined {
  return Number.isSafeInteger(value) ? String(value) : undefined;
}
