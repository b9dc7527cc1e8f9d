import { parsePayload } from "../contract/payload.ts";
import type { Received } from "./received.ts";

/** The body as JSON, parsed when it is first asked for; undefined when it is none. */
export function lazyPayload({ body, header }: Pick<Received, "body" | "header">): () => unknown {
  let result: { value: unknown } | undefined;
  return () => {
    if (!result) {
      try {
        result = { value: parsePayload(body, header("content-type")) };
      } catch {
        result = { value: undefined };
      }
    }
    return result.value;
  };
}
