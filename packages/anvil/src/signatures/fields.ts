import { parsePayload } from "../contract/payload.ts";
import type { HeaderLookup } from "./headers.ts";
import type { Field, Provider } from "./provider.ts";

/**
 * The event's own id and type, read from a delivery that has been verified. Whatever the payload holds, this
 * doesn't throw: a field of another kind, an empty one or no JSON at all count as absent.
 */
export function readEventFields(
  provider: Provider,
  body: Uint8Array,
  header: HeaderLookup,
): { eventId?: string; type?: string } {
  const payload = lazy(() => parsePayload(body, header("content-type")));
  const read = (field: Field) => ("header" in field ? header(field.header) : stringAt(payload(), field.body));

  const ids = provider.identity?.map(read) ?? [];
  const eventId = ids.length > 0 && ids.every(isDistinct) ? joinIds(ids as string[]) : undefined;
  const [first, ...rest] = provider.type?.map(read) ?? [];
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

function stringAt(payload: unknown, path: string): string | undefined {
  let value = payload;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return typeof value === "string" && value !== "" ? value : undefined;
}

function lazy(parse: () => unknown): () => unknown {
  let result: { value: unknown } | undefined;
  return () => {
    if (!result) {
      try {
        result = { value: parse() };
      } catch {
        result = { value: undefined };
      }
    }
    return result.value;
  };
}
