import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { type Field, fieldLists, type Provider, type Scheme } from "webhook-anvil/signatures";
import { type Sample, samples } from "./samples.ts";

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
  const sample: Sample = samples[provider.name] ?? {};
  const type = provider.type ? (wantedType ?? sample.type ?? "test.event") : undefined;
  const payload = sample.payload?.(type ?? "", nowMs) ?? plainPayload(provider, nowMs);
  const headers: Record<string, string> = {
    "content-type": CONTENT_TYPES[sample.as ?? "json"],
    ...sample.headers,
  };
  const put = (field: Field, value: string, over: boolean) => {
    if ("header" in field) headers[field.header] = value;
    else if ("form" in field) putAt(payload, field.form, value, over);
    else if ("body" in field) putAt(payload, field.body, field.number ? randomInt(1, 1e9) : value, over);
    else if (!Array.isArray(payload)) payload[value] ??= {};
  };
  const id = (sample.newId ?? newId)();
  for (const [index, field] of identityFields(provider).entries()) {
    put(field, index === 0 ? id : (sample.newId ?? newId)(), false);
  }
  for (const [field, part] of typeParts(typeFields(provider), type)) put(field, part, true);
  for (const field of signedFields(provider)) {
    if ("header" in field) headers[field.header] ??= id;
    else put(field, newId(), false);
  }
  return { body: Buffer.from(written(payload, sample.as)), headers, type };
}

const CONTENT_TYPES = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  xml: "text/xml",
} as const;

function plainPayload(
  provider: Provider,
  nowMs: number,
): Record<string, unknown> | Record<string, unknown>[] {
  // Without an id of the provider's, the signature and the body are the identity.
  const payload = { sentAt: new Date(nowMs).toISOString(), nonce: randomUUID() };
  return provider.batch?.list === "[]" ? [payload] : payload;
}

function written(payload: object, as: Sample["as"]): string {
  if (as === undefined) return JSON.stringify(payload);
  const fields = Object.entries(payload).map(([name, value]): [string, string] => [name, String(value)]);
  if (as === "form") return new URLSearchParams(fields).toString();
  return `<notification>${fields.map(([name, value]) => `<${name}>${value}</${name}>`).join("")}</notification>`;
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
  const inHeader = typeFields(provider).filter((field) => "header" in field);
  if (wantedType !== undefined && inHeader.length === 0) return undefined;
  // `issues.opened` of GitHub: the header has `issues`, and the body, which stays as it is, `opened`.
  for (const [field, part] of typeParts(typeFields(provider), wantedType ?? sample.type)) {
    if ("header" in field) headers[field.header] = part;
  }
  for (const field of signedFields(provider)) {
    if ("header" in field) headers[field.header] ??= (sample.newId ?? newId)();
  }
  return { body, headers, type: wantedType };
}

/** Headers and fields that the scheme signs and doesn't make up itself: an id of the message, a token. */
function signedFields({ scheme }: Provider): Field[] {
  const schemes = [scheme].flat() as readonly Scheme[];
  return schemes.flatMap((each) => {
    if (each.kind !== "hmac") return [];
    const time = each.timestamp && "body" in each.timestamp.from ? each.timestamp.from.body : undefined;
    return [each.message]
      .flat()
      .flatMap((message) =>
        [...message.matchAll(/\{(header|field):([^}]+)\}/g)]
          .map(([, kind, name = ""]): Field => (kind === "header" ? { header: name } : { body: name }))
          .filter((field) => !("body" in field) || field.body !== time),
      );
  });
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

/** Of several lists the first: the kind of delivery that its provider sends most. */
function identityFields({ identity }: Provider): readonly Field[] {
  return fieldLists(identity)[0] ?? [];
}

function typeFields({ type }: Provider): readonly Field[] {
  return fieldLists(type)[0] ?? [];
}

/** `[]` in a path makes a list of one item. A value that is there already stays, unless `over` says otherwise. */
function putAt(payload: object, path: string, value: unknown, over: boolean): void {
  const names = path.split(/(?<!\\)\./).map((name) => name.replaceAll("\\.", "."));
  const last = names.pop() as string;
  let at = payload as Record<string, unknown>;
  for (const name of names) {
    const list = name.endsWith("[]");
    const key = list ? name.slice(0, -2) : name;
    if (key !== "") at[key] ??= list ? [{}] : {};
    const inner = key === "" ? at : at[key];
    at = (list ? (inner as unknown[])[0] : inner) as Record<string, unknown>;
  }
  if (over || at[last] === undefined || at[last] === "") at[last] = value;
}

function newId(): string {
  return `test_${randomBytes(12).toString("hex")}`;
}
