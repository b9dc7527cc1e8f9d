import { Failure } from "../failure.ts";

/** Longer than an ingress takes for an answer, shorter than a person's patience. */
const TIMEOUT_MS = 15_000;

export type Answer = { readonly status: number; readonly body: string };

/** @throws {Failure} when there is no answer */
export async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers,
      body: new Uint8Array(body),
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: response.status, body: await response.text() };
  } catch (error) {
    throw new Failure(`no answer from ${url} (${reason(error)}); is anvil ingress running there?`);
  }
}

/** fetch says "fetch failed", and why in its cause; a name with several addresses fails once for each. */
function reason(error: unknown): string {
  const { cause, message } = error as Error;
  const { code, errors } = (cause ?? {}) as NodeJS.ErrnoException & { errors?: Error[] };
  return code ?? (cause as Error | undefined)?.message ?? errors?.[0]?.message ?? message;
}
