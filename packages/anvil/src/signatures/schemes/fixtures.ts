import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  type SignKeyObjectInput,
  sign as signBytes,
} from "node:crypto";
import { crc32 } from "node:zlib";
import { fieldLists } from "../fields.ts";
import { headerLookup } from "../headers.ts";
import type { Field, Provider, PublicKeyScheme } from "../provider.ts";
import { providers } from "../providers/index.ts";
import type { Received } from "../received.ts";
import { type SignedRequest, signRequest } from "../sign.ts";
import type { FetchKey } from "./engine.ts";
import { KeyUnavailable } from "./engine.ts";
import { schemesOf } from "./index.ts";

export const NOW_MS = 1_760_000_000_000;
export const PUBLIC_URL = "https://hooks.example/webhooks/made-up?tenant=7";
const CERTIFICATE_URLS: Readonly<Record<string, string>> = {
  paypal: "https://api.paypal.com/v1/notifications/certs/CERT-made-up",
  "aws-sns": "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-made-up.pem",
};
export const TOPIC = "arn:aws:sns:eu-west-1:123456789012:made-up";

/** An event of which everything is made up, to be told from others by `id`. */
type MadeUpEvent = {
  readonly id: string;
  /** What changes when it is delivered again, or is beside the point. */
  readonly note?: string;
};

/** Somebody who signs for a provider: by the library where that can, else with a key of the test's own. */
export type RowSender = {
  readonly provider: Provider;
  readonly secret: string;
  readonly fetchKey: FetchKey;
  sign(event: MadeUpEvent, nowMs?: number): SignedRequest;
};

const ed25519 = generateKeyPairSync("ed25519");
const p256 = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
/** A certificate as PayPal and SNS publish one, over the test's own key. */
export const CERTIFICATE: string = selfSigned(rsa);

const raw = Buffer.from(ed25519.publicKey.export({ format: "jwk" }).x as string, "base64url");
const PUBLIC_KEYS: Readonly<Record<PublicKeyScheme["key"], string>> = {
  hex: raw.toString("hex"),
  whpk: `whpk_${raw.toString("base64")}`,
  spki: p256.publicKey.export({ format: "der", type: "spki" }).toString("base64"),
};

export const senderOf = (name: string): RowSender => rowSender(providers.get(name) as Provider);

/** A sender for each row, and one more for each public key of Standard Webhooks. */
export const everySender: readonly (readonly [string, RowSender])[] = [...providers.values()].flatMap(
  (provider) => {
    const usual = [provider.name, rowSender(provider)] as const;
    const asymmetric = schemesOf(provider).find((scheme) => scheme.kind === "public-key");
    if (schemesOf(provider).length === 1 || !asymmetric) return [usual];
    return [usual, [`${provider.name} with v1a`, rowSender({ ...provider, scheme: asymmetric })] as const];
  },
);

function rowSender(provider: Provider): RowSender {
  const secret = secretFor(provider);
  const sign = (event: MadeUpEvent, nowMs = NOW_MS): SignedRequest => {
    const { headers, body } = unsigned(provider, event, nowMs);
    const [scheme] = schemesOf(provider);
    if (scheme?.kind === "public-key") return signedByKey(scheme, headers, body, nowMs);
    if (scheme?.kind === "paypal") return signedByPaypal(headers, body, secret, nowMs);
    if (scheme?.kind === "sns") return signedBySns(body);
    if (provider.name === "plaid") return signedByPlaid(headers, body, nowMs);
    return signRequest(provider, { url: PUBLIC_URL, headers, body }, secret, { nowMs });
  };
  const fetchKey: FetchKey = async (wanted) => {
    if (wanted.kind === "certificate" && wanted.url === CERTIFICATE_URLS[provider.name]) return CERTIFICATE;
    throw new KeyUnavailable("made up");
  };
  return { provider, secret, fetchKey, sign };
}

function secretFor({ name, scheme: schemes }: Provider): string {
  const [scheme] = schemesOf({ scheme: schemes });
  if (scheme?.kind === "public-key") return PUBLIC_KEYS[scheme.key];
  if (scheme?.kind === "hmac" && scheme.secret.startsWith("whsec")) {
    return `whsec_${Buffer.from(`made-up-key-of-${name}`).toString("base64")}`;
  }
  const own: Readonly<Record<string, string>> = {
    stripe: "whsec_made_up_of_stripe",
    adyen: "00112233445566778899aabbccddeeff",
    contentful: "made-up-".repeat(8),
    braintree: "public-made-up|private-made-up",
    chargebee: "user:password-made-up",
    paypal: "MADE-UP-WEBHOOK-ID",
    "aws-sns": TOPIC,
    plaid: JSON.stringify(p256.publicKey.export({ format: "jwk" })),
  };
  return own[name] ?? `made-up-secret-of-${name}`;
}

/** The event before it is signed, with its id where the row looks for it. */
function unsigned(provider: Provider, { id, note = "" }: MadeUpEvent, nowMs: number) {
  const { name } = provider;
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (name === "twilio" || name === "mandrill") {
    headers["content-type"] = "application/x-www-form-urlencoded";
    if (name === "twilio") headers["i-twilio-idempotency-token"] = id;
    return { headers, body: utf8(new URLSearchParams({ Id: id, Note: note, Body: "made up" }).toString()) };
  }
  if (name === "contentful") headers["x-contentful-topic"] = "ContentManagement.Entry.publish";
  const payload = samples(name, id, nowMs) ?? (startsWithList(provider) ? [{}] : {});
  const put = (field: Field) => {
    if ("header" in field) headers[field.header] = id;
    else if ("body" in field) putAt(payload, field.body, field.number ? numberOf(id) : id);
  };
  for (const field of fieldLists(provider.identity)[0] ?? []) put(field);
  const [scheme] = schemesOf(provider);
  if (scheme && "message" in scheme) {
    for (const [, signedHeader = ""] of String(scheme.message).matchAll(/\{header:([^}]+)\}/g)) {
      headers[signedHeader] = id;
    }
  }
  const inside: Record<string, unknown> = Array.isArray(payload) ? (payload[0] ?? {}) : payload;
  inside.note = note;
  if (fieldLists(provider.identity).length === 0) inside.madeUpId = id;
  return { headers, body: utf8(JSON.stringify(payload)) };
}

function samples(name: string, id: string, nowMs: number): Record<string, unknown> | undefined {
  if (name === "mailgun") return { signature: { token: createHash("sha256").update(id).digest("hex") } };
  if (name === "adyen") {
    const item = {
      originalReference: "",
      merchantAccountCode: "MadeUpAccount",
      merchantReference: "order:1",
      amount: { value: 1130, currency: "EUR" },
    };
    return { live: "false", notificationItems: [{ NotificationRequestItem: item }] };
  }
  if (name !== "aws-sns") return undefined;
  return {
    Type: "Notification",
    Message: '{"made":"up"}\nMessageId\nnot this one',
    TopicArn: TOPIC,
    Timestamp: new Date(nowMs).toISOString(),
    SignatureVersion: "2",
    SigningCertURL: CERTIFICATE_URLS["aws-sns"],
  };
}

function startsWithList(provider: Provider): boolean {
  const [first] = fieldLists(provider.identity)[0] ?? [];
  return first !== undefined && "body" in first && first.body.startsWith("[]");
}

// biome-ignore lint/suspicious/noExplicitAny: a payload of any form
function putAt(payload: any, path: string, value: unknown): void {
  let at = payload;
  const names = path.split(".");
  const last = names.pop() as string;
  for (const name of names) {
    const list = name.endsWith("[]");
    const key = list ? name.slice(0, -2) : name;
    if (key !== "") {
      at[key] ??= list ? [{}] : {};
      at = at[key];
    }
    if (list) at = at[0];
  }
  if (last.endsWith("[]")) at[last.slice(0, -2)] = [value];
  else at[last] = value;
}

/** A whole number for an id, another one for another id. */
function numberOf(id: string): number {
  return createHash("sha256").update(id).digest().readUIntBE(0, 6);
}

function signedByKey(
  scheme: PublicKeyScheme,
  given: Record<string, string>,
  body: Uint8Array,
  nowMs: number,
): SignedRequest {
  const timestamp = String(Math.floor(nowMs / 1000));
  const id = given[/\{header:([^}]+)\}/.exec(scheme.message)?.[1] ?? ""];
  const message = Buffer.concat([Buffer.from(id === undefined ? timestamp : `${id}.${timestamp}.`), body]);
  const isEdwards = scheme.algorithm === "ed25519";
  const digest = isEdwards ? null : "sha256";
  const bytes = signBytes(digest, message, isEdwards ? ed25519.privateKey : p256.privateKey);
  const text = bytes.toString(scheme.signature.encoding);
  const { layout, header } = scheme.signature;
  const from = scheme.timestamp?.from as { header: string };
  const signature = layout.kind === "versions" ? `${layout.version},${text}` : text;
  return { url: PUBLIC_URL, body, headers: { ...given, [from.header]: timestamp, [header]: signature } };
}

function signedByPaypal(
  given: Record<string, string>,
  body: Uint8Array,
  webhookId: string,
  nowMs: number,
): SignedRequest {
  const id = "made-up-transmission";
  const time = new Date(nowMs).toISOString();
  const signed = `${id}|${time}|${webhookId}|${crc32(body)}`;
  const headers = {
    ...given,
    "paypal-transmission-id": id,
    "paypal-transmission-time": time,
    "paypal-cert-url": CERTIFICATE_URLS.paypal as string,
    "paypal-auth-algo": "SHA256withRSA",
    "paypal-transmission-sig": signBytes("RSA-SHA256", Buffer.from(signed), rsa.privateKey).toString(
      "base64",
    ),
  };
  return { url: PUBLIC_URL, headers, body };
}

/** Signs what stands in an SNS message, by its type and version. */
export function signedBySns(body: Uint8Array): SignedRequest {
  const message = JSON.parse(new TextDecoder().decode(body)) as Record<string, string>;
  const confirmation = ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
  const notification = ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"];
  const names = message.Type === "Notification" ? notification : confirmation;
  const text = names.filter((name) => message[name]).map((name) => `${name}\n${message[name]}\n`);
  const hash = message.SignatureVersion === "1" ? "RSA-SHA1" : "RSA-SHA256";
  const Signature = signBytes(hash, Buffer.from(text.join("")), rsa.privateKey).toString("base64");
  const headers = { "content-type": "text/plain; charset=UTF-8" };
  return { url: PUBLIC_URL, headers, body: utf8(JSON.stringify({ ...message, Signature })) };
}

function signedByPlaid(given: Record<string, string>, body: Uint8Array, nowMs: number): SignedRequest {
  const claims = {
    iat: Math.floor(nowMs / 1000),
    request_body_sha256: createHash("sha256").update(body).digest("hex"),
  };
  const token = jsonWebToken({ alg: "ES256", kid: "made-up-kid", typ: "JWT" }, claims, (text) =>
    signBytes("sha256", text, es256(p256.privateKey)),
  );
  return { url: PUBLIC_URL, headers: { ...given, "plaid-verification": token }, body };
}

export function es256(key: KeyObject): SignKeyObjectInput {
  return { key, dsaEncoding: "ieee-p1363" };
}

/** A token with any header and claims, signed by anything. */
export function jsonWebToken(
  header: object | string,
  claims: object | string,
  signer: (text: Buffer) => Uint8Array,
): string {
  const part = (value: object | string) =>
    Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${Buffer.from(signer(Buffer.from(text))).toString("base64url")}`;
}

/** The request as the engines see it. */
export function receivedFrom({ url, headers, body }: SignedRequest, method = "POST"): Received {
  return { method, url, header: headerLookup(headers), body };
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** X.509 by hand, as Node reads certificates and makes none: valid from 2024 to 2034. */
function selfSigned({ publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject }): string {
  const der = (tag: number, ...parts: Uint8Array[]): Buffer => {
    const content = Buffer.concat(parts);
    const length =
      content.length < 128 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
    return Buffer.concat([Buffer.from([tag, ...length]), content]);
  };
  const algorithm = Buffer.from("300d06092a864886f70d01010b0500", "hex");
  const commonName = der(0x30, Buffer.from("0603550403", "hex"), der(0x0c, Buffer.from("made up")));
  const name = der(0x30, der(0x31, commonName));
  const date = (text: string) => der(0x17, Buffer.from(text));
  const body = der(
    0x30,
    der(0x02, Buffer.from([1, ...randomBytes(7)])),
    algorithm,
    name,
    der(0x30, date("240101000000Z"), date("340101000000Z")),
    name,
    publicKey.export({ format: "der", type: "spki" }),
  );
  const signature = signBytes("sha256", body, privateKey);
  const certificate = der(0x30, body, algorithm, der(0x03, Buffer.from([0]), signature));
  const lines = certificate.toString("base64").match(/.{1,64}/g) as string[];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
