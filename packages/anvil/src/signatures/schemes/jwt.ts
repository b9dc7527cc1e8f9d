import {
  createHash,
  createHmac,
  createPublicKey,
  type KeyObject,
  verify as verifySignature,
} from "node:crypto";
import type { JwtScheme } from "../provider.ts";
import type { Key, Received } from "../received.ts";
import { type Refusal, refuse } from "../verdict.ts";
import type { Moment, SchemeEngine } from "./engine.ts";
import { equalBytes } from "./equal-bytes.ts";
import { decodeSignature } from "./signature-encoding.ts";

const MAX_TOKEN_LENGTH = 8_192;

/** A JSON Web Token (RFC 7519, 7515) whose claims hold the hash of the body. */
export const jwtEngine: SchemeEngine<JwtScheme> = {
  readKey(scheme, secret) {
    if (secret === "") return undefined;
    // What a fetched key is asked for with; the key itself comes later. A JWK as it is counts as the key.
    if (scheme.key !== "utf8") return jwkKey(secret) ?? Buffer.from(secret);
    return Buffer.from(secret);
  },

  precheck(scheme, head) {
    const token = readToken(scheme, head.header(scheme.header));
    return token.ok ? undefined : token;
  },

  async verify(scheme, received, keys, moment) {
    const token = readToken(scheme, received.header(scheme.header));
    if (!token.ok) return token;
    const usable = await keysFor(scheme, token, keys, moment);
    const key = usable.find((each) => signatureFits(token, each));
    if (!key) return refuse("wrong_signature");
    const wrong = checkClaims(scheme, token.claims, received, moment.nowMs);
    return wrong ?? { ok: true, signature: createHash("sha256").update(token.signedText).digest() };
  },

  sign(scheme, { body, url }, key, nowMs) {
    const algorithm = scheme.algorithms[0];
    const hash = algorithm && algorithm !== "ES256" ? HASHES[algorithm] : undefined;
    if (!hash || !(key instanceof Uint8Array)) return refuse("no_key");
    const now = Math.floor(nowMs / 1000);
    const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest();
    const { claim, encoding, absentWhenEmpty } = scheme.bodyHash;
    const claims = {
      nbf: now,
      exp: now + 60,
      ...(absentWhenEmpty && body.length === 0 ? {} : { [claim]: sha256(body).toString(encoding) }),
      ...(scheme.urlHash ? { [scheme.urlHash]: sha256(Buffer.from(url)).toString("hex") } : {}),
    };
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const text = `${part({ alg: algorithm, typ: "JWT" })}.${part(claims)}`;
    const signature = createHmac(hash, key).update(text).digest("base64url");
    return { ok: true, headers: { [scheme.header]: `${text}.${signature}` } };
  },
};

const HASHES = { HS256: "sha256", HS384: "sha384", HS512: "sha512" } as const;

type Token = {
  readonly ok: true;
  readonly algorithm: JwtScheme["algorithms"][number];
  readonly kid: string | undefined;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly signedText: string;
  readonly signature: Uint8Array;
};

/** Takes a token apart. Its own idea of its algorithm counts only where the scheme has the same one. */
function readToken(scheme: JwtScheme, value: string | undefined): Token | Refusal {
  if (!value) return refuse("missing_signature");
  const prefix = (scheme.prefix ?? "").toLowerCase();
  const text = value.toLowerCase().startsWith(prefix) ? value.slice(prefix.length) : value;
  if (text.length > MAX_TOKEN_LENGTH) return refuse("malformed_signature");
  const parts = text.split(".");
  const [head, body, tail] = parts;
  if (parts.length !== 3 || !head || !body || !tail) return refuse("malformed_signature");
  const header = jsonObject(head);
  const claims = jsonObject(body);
  const signature = decodeSignature(tail, "base64url");
  const algorithm = scheme.algorithms.find((each) => each === header?.alg);
  // A critical extension is one that must be understood (RFC 7515, 4.1.11); none is.
  if (!header || !claims || !signature || !algorithm || "crit" in header)
    return refuse("malformed_signature");
  const kid = typeof header.kid === "string" ? header.kid : undefined;
  return { ok: true, algorithm, kid, claims, signedText: `${head}.${body}`, signature };
}

function jsonObject(part: string): Readonly<Record<string, unknown>> | undefined {
  const bytes = decodeSignature(part, "base64url");
  if (!bytes) return undefined;
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

async function keysFor(
  scheme: JwtScheme,
  { kid }: Token,
  keys: readonly Key[],
  { fetchKey }: Moment,
): Promise<readonly Key[]> {
  if (scheme.key === "utf8") return keys;
  const given = keys.filter((key) => !(key instanceof Uint8Array));
  if (given.length > 0) return given;
  if (!fetchKey || kid === undefined || !/^[\w-]{1,200}$/.test(kid)) return [];
  const { fetch: provider } = scheme.key;
  const fetched = await Promise.all(
    keys.map((key) =>
      fetchKey({ kind: "jwk", provider, kid, credentials: Buffer.from(key as Uint8Array).toString() }),
    ),
  );
  return fetched.map(jwkKey).filter((key) => key !== undefined);
}

/** A public P-256 key in JSON; undefined for anything else, a private or a symmetric one too. */
function jwkKey(text: string): KeyObject | undefined {
  try {
    const jwk = JSON.parse(text) as { kty?: string; crv?: string; d?: string; expired_at?: number | null };
    if (jwk.kty !== "EC" || jwk.crv !== "P-256" || jwk.d !== undefined) return undefined;
    // Plaid's way to withdraw a key.
    if (typeof jwk.expired_at === "number") return undefined;
    return createPublicKey({ key: jwk, format: "jwk" });
  } catch {
    return undefined;
  }
}

/** The kind of key decides, and not the token: an HMAC keyed with a public key is the classic forgery. */
function signatureFits({ algorithm, signedText, signature }: Token, key: Key): boolean {
  if (algorithm === "ES256") {
    if (key instanceof Uint8Array) return false;
    return verifySignature("sha256", Buffer.from(signedText), { key, dsaEncoding: "ieee-p1363" }, signature);
  }
  if (!(key instanceof Uint8Array)) return false;
  return equalBytes(createHmac(HASHES[algorithm], key).update(signedText).digest(), signature);
}

function checkClaims(
  scheme: JwtScheme,
  claims: Token["claims"],
  { body, url }: Received,
  nowMs: number,
): Refusal | undefined {
  return (
    checkTime(scheme, claims, nowMs / 1000) ??
    checkBodyHash(scheme, claims, body) ??
    (scheme.urlHash === undefined ? undefined : checkUrlHash(claims[scheme.urlHash], url))
  );
}

function checkTime(
  { time, toleranceS }: JwtScheme,
  claims: Token["claims"],
  now: number,
): Refusal | undefined {
  const at = (claim: string) => {
    const value = claims[claim];
    return typeof value === "number" && Number.isFinite(value) ? value : undefined;
  };
  if (time === "iat") {
    const issued = at("iat");
    if (issued === undefined) return refuse("missing_timestamp");
    if (now - issued > toleranceS) return refuse("timestamp_too_old");
    return issued - now > toleranceS ? refuse("timestamp_in_future") : undefined;
  }
  const expires = at("exp");
  if (expires === undefined) return refuse("missing_timestamp");
  if (now - expires > toleranceS) return refuse("timestamp_too_old");
  if (claims.nbf === undefined) return undefined;
  const from = at("nbf");
  if (from === undefined) return refuse("malformed_timestamp");
  return from - now > toleranceS ? refuse("timestamp_in_future") : undefined;
}

function checkBodyHash(
  { bodyHash }: JwtScheme,
  claims: Token["claims"],
  body: Uint8Array,
): Refusal | undefined {
  const claimed = claims[bodyHash.claim];
  if (claimed === undefined && bodyHash.absentWhenEmpty && body.length === 0) return undefined;
  // An empty body whose token speaks of one has lost it on the way.
  if (bodyHash.absentWhenEmpty && body.length === 0) return refuse("wrong_signature");
  return hashFits(claimed, body, bodyHash.encoding) ? undefined : refuse("wrong_signature");
}

function checkUrlHash(claimed: unknown, url: string): Refusal | undefined {
  if (url === "") return refuse("missing_signed_part");
  return hashFits(claimed, Buffer.from(url), "hex") ? undefined : refuse("wrong_signature");
}

function hashFits(claimed: unknown, bytes: Uint8Array, encoding: "hex" | "base64"): boolean {
  const digest = typeof claimed === "string" ? decodeSignature(claimed, encoding) : undefined;
  return digest !== undefined && equalBytes(digest, createHash("sha256").update(bytes).digest());
}
