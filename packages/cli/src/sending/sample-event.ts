import { randomBytes, randomInt, randomUUID } from "node:crypto";
import type { Field, Provider } from "webhook-anvil/signatures";
import { samples } from "./samples.ts";

/** What is going to be signed. */
export type SampleEvent = {
  readonly body: Uint8Array;
  /** Those of the provider; the signature's are added by signing. */
  readonly headers: Readonly<Record<string, string>>;
  /** As the ingress will read it; undefined where the provider has no types. */
  readonly type: string | undefined;
};

/**
 * A small event as the provider would send it, new each time: what identifies it is made up afresh. A provider
 * without a sample of its own gets a plain one, with its id and type where the provider's row looks for them.
 */
export function sampleEvent(provider: Provider, wantedType: string | undefined, nowMs: number): SampleEvent {
  const sample = samples[provider.name] ?? {};
  const type = provider.type ? (wantedType ?? sample.type ?? "test.event") : undefined;
  const payload: Record<string, unknown> = sample.payload?.(type ?? "", nowMs) ?? {
    sentAt: new Date(nowMs).toISOString(),
    // Without an id of the provider's, the signature and the body are the identity.
    nonce: randomUUID(),
  };
  const headers: Record<string, string> = { "content-type": "application/json", ...sample.headers };
  const put = (field: Field, value: string) => {
    if ("header" in field) headers[field.header] = value;
    else if ("body" in field) putAt(payload, field.body, field.number ? randomInt(1, 1e9) : value);
  };
  for (const field of identityFields(provider)) put(field, (sample.newId ?? newId)());
  for (const [field, part] of typeParts(provider.type ?? [], type)) put(field, part);
  return { body: Buffer.from(JSON.stringify(payload)), headers, type };
}

/**
 * The bytes of a file as an event: only what stands in headers can be made up for them.
 * @returns undefined when the type was given, but the provider reads it from the body
 */
export function fileEvent(
  provider: Provider,
  body: Uint8Array,
  wantedType: string | undefined,
): SampleEvent | undefined {
  const sample = samples[provider.name] ?? {};
  const headers: Record<string, string> = { "content-type": "application/json", ...sample.headers };
  for (const field of identityFields(provider)) {
    if ("header" in field) headers[field.header] = (sample.newId ?? newId)();
  }
  const inHeader = (provider.type ?? []).filter((field) => "header" in field);
  if (wantedType !== undefined && inHeader.length === 0) return undefined;
  // `issues.opened` of GitHub: the header has `issues`, and the body, which stays as it is, `opened`.
  for (const [field, part] of typeParts(provider.type ?? [], wantedType ?? sample.type)) {
    if ("header" in field) headers[field.header] = part;
  }
  return { body, headers, type: wantedType };
}

/** Splits a type over the fields that it is joined from: the last one takes what is left. */
function typeParts(fields: readonly Field[], type: string | undefined): [Field, string][] {
  if (!type) return [];
  const parts = type.split(".");
  return fields.flatMap((field, index): [Field, string][] => {
    const part = index === fields.length - 1 ? parts.slice(index).join(".") : (parts[index] ?? "");
    return part === "" ? [] : [[field, part]];
  });
}

function identityFields({ identity = [] }: Provider): readonly Field[] {
  return identity === "each-delivery" ? [] : identity;
}

/** `[]` in a path makes a list of one item. */
function putAt(payload: Record<string, unknown>, path: string, value: unknown): void {
  const names = path.split(".");
  const last = names.pop() as string;
  let at = payload;
  for (const name of names) {
    const list = name.endsWith("[]");
    const key = list ? name.slice(0, -2) : name;
    at[key] ??= list ? [{}] : {};
    at = (list ? (at[key] as unknown[])[0] : at[key]) as Record<string, unknown>;
  }
  at[last] = value;
}

function newId(): string {
  return `test_${randomBytes(12).toString("hex")}`;
}
