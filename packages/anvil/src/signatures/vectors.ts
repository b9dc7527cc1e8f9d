import { createHash } from "node:crypto";
import { handshakeOf } from "./handshakes/index.ts";
import { headerLookup } from "./headers.ts";
import { providers } from "./providers/index.ts";
import { type RequestToVerify, type Verdict, verifyRequest } from "./verify.ts";

/** A signed request and the verdict that it deserves: one entry of a vectors file, as far as it is read here. */
export type Vector = {
  readonly id: string;
  readonly provider: string;
  readonly method: string;
  readonly url?: string;
  /** A header that is there several times has a list. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** A text, a JWK, or a list of these while it is rotated. */
  readonly secret: string | object | readonly (string | object)[];
  /** Seconds since 1970 to verify at. */
  readonly now: number;
  /** Null where the scheme can't authenticate. */
  readonly valid: boolean | null;
  /** Absent for a signature; handshakes and what must be fetched are of another kind. */
  readonly kind?: string;
  readonly body_encoding?: string;
  readonly body?: string;
  readonly body_base64?: string;
  readonly body_rule?: {
    readonly prefix: string;
    readonly repeat: string;
    readonly count: number;
    readonly suffix: string;
  };
  readonly body_bytes?: number;
  readonly body_sha256?: string;
  readonly cert_pem?: string;
  readonly expected_identity?: string;
  /** What a handshake is to be answered with. */
  readonly expected_response?: {
    readonly status: number;
    readonly text?: string;
    readonly json?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
  };
};

/**
 * Holds a vector's verdict, or its handshake's answer, against what it should be.
 * @returns `skipped` for what no receiver can authenticate by itself
 */
export async function judgeVector(vector: Vector): Promise<"passed" | "failed" | "skipped"> {
  if (vector.valid === null) return "skipped";
  if (vector.expected_response) return (await answersRight(vector)) ? "passed" : "failed";
  const verdict = await verifyVector(vector);
  const { expected_identity: identity } = vector;
  const sameEvent = identity === undefined || !verdict.ok || verdict.eventId === identity;
  return verdict.ok === vector.valid && sameEvent && isWhole(vector) ? "passed" : "failed";
}

/** A body that isn't the one that the vector is about proves nothing, whatever the verdict. */
function isWhole(vector: Vector): boolean {
  const body = bodyOf(vector);
  const { body_bytes: length, body_sha256: digest } = vector;
  return (
    (length === undefined || body.length === length) &&
    (digest === undefined || createHash("sha256").update(body).digest("hex") === digest.toLowerCase())
  );
}

async function answersRight(vector: Vector): Promise<boolean> {
  const provider = providers.get(vector.provider);
  const handshake = provider && handshakeOf(provider);
  if (!handshake || !vector.expected_response) return false;
  const { method = "POST", url = "", headers, body } = readVector(vector);
  const received = { method, url, header: headerLookup(headers), body };
  const secrets = secretsOf(vector);
  const source = { secrets, verifyToken: secrets[0] ?? "" };
  const verified = handshake.signed !== undefined && (await verifyVector(vector)).ok;
  const answer =
    handshake.beforeBody?.(received, source) ??
    (verified ? handshake.signed?.(received, source) : handshake.unsigned?.(received, source));
  if (!answer || "visit" in answer) return false;
  const { status, text, json, headers: expected = {} } = vector.expected_response;
  const answered = headerLookup(answer.headers);
  return (
    answer.status === status &&
    (text === undefined || answer.body === text) &&
    (json === undefined || answer.body === JSON.stringify(json)) &&
    Object.entries(expected).every(([name, value]) => answered(name.toLowerCase())?.startsWith(value))
  );
}

/**
 * The request of a vector.
 * @throws {TypeError} when its body is in no form that is known
 */
export function readVector(vector: Vector): RequestToVerify & { readonly body: Uint8Array } {
  const { method, url, headers } = vector;
  return { method, headers, body: bodyOf(vector), ...(url === undefined ? {} : { url }) };
}

/**
 * The verdict on a vector, as a receiver with its secret would give it.
 * @throws {TypeError} for a provider that isn't known
 */
export async function verifyVector(vector: Vector): Promise<Verdict> {
  const provider = providers.get(vector.provider);
  if (!provider) throw new TypeError(`${vector.id}: no provider ${vector.provider}`);
  const { cert_pem: certificate } = vector;
  return verifyRequest(provider, readVector(vector), {
    secrets: secretsOf(vector),
    now: vector.now * 1000,
    // What its provider would have had under the URL, had it come from one of its hosts.
    ...(certificate === undefined ? {} : { fetchKey: async () => certificate }),
  });
}

/** A vector of SNS names a certificate and no topic: any topic is right then. */
function secretsOf({ secret, provider }: Vector): readonly string[] {
  return (Array.isArray(secret) ? secret : [secret]).map((each: string | object) => {
    if (typeof each !== "string") return JSON.stringify(each);
    return provider === "aws-sns" && each === "" ? "*" : each;
  });
}

function bodyOf({ id, ...vector }: Vector): Uint8Array {
  if (vector.body_base64 !== undefined) return new Uint8Array(Buffer.from(vector.body_base64, "base64"));
  if (vector.body_rule) {
    const { prefix, repeat, count, suffix } = vector.body_rule;
    return new TextEncoder().encode(prefix + repeat.repeat(count) + suffix);
  }
  const { body, body_encoding: encoding = "utf8" } = vector;
  if (body !== undefined && encoding === "utf8") return new TextEncoder().encode(body);
  if (body !== undefined && encoding === "base64") return new Uint8Array(Buffer.from(body, "base64"));
  throw new TypeError(`${id}: no body of encoding ${encoding}`);
}
