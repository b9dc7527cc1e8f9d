import { createHash, createHmac, generateKeyPairSync, sign as signBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { verifyRequest } from "../verify.ts";
import { es256, jsonWebToken, NOW_MS, PUBLIC_URL } from "./fixtures.ts";

const now = NOW_MS / 1000;
const body = '{"id":"EV_1","event":"room_started"}';
const sha256 = (text: string, encoding: "hex" | "base64") =>
  createHash("sha256").update(text).digest(encoding);
const wrong = { ok: false, reason: "wrong_signature" };
const malformed = { ok: false, reason: "malformed_signature" };

describe("LiveKit's token, HS256", () => {
  const secret = "made-up-secret-of-livekit";
  const hs256 = (text: Buffer) => createHmac("sha256", secret).update(text).digest();
  const claims = { exp: now + 60, nbf: now, sha256: sha256(body, "base64") };
  const token = (
    header: object | string = { alg: "HS256" },
    given: object | string = claims,
    signer = hs256,
  ) => jsonWebToken(header, given, signer);
  const judge = (authorization: string, sent = body) =>
    verifyRequest("livekit", { headers: { authorization }, body: sent }, { secrets: [secret], now: NOW_MS });

  it("is accepted with Bearer, in any case, and without", async () => {
    for (const prefix of ["", "Bearer ", "bearer ", "BEARER "]) {
      expect(await judge(prefix + token())).toEqual({ ok: true, eventId: "EV_1", type: "room_started" });
    }
    expect(await judge(`Basic ${token()}`)).toEqual(malformed);
  });

  it("with alg none, however it is spelt, is refused, with and without a signature", async () => {
    for (const alg of ["none", "None", "NONE", "nOnE", "", null, ["HS256"], { HS256: 1 }, "hs256"]) {
      const unsigned = token({ alg }).replace(/[^.]*$/, "");
      for (const each of [unsigned, unsigned.slice(0, -1), token({ alg })]) {
        expect(await judge(each), JSON.stringify(alg)).toEqual(malformed);
      }
    }
    expect(await judge(token({}))).toEqual(malformed);
  });

  it("of an algorithm that the row hasn't is refused, signed right by it", async () => {
    const hs512 = (text: Buffer) => createHmac("sha512", secret).update(text).digest();
    expect(await judge(token({ alg: "HS512" }, claims, hs512))).toEqual(malformed);
    // Its name alone doesn't make it another.
    expect(await judge(token({ alg: "HS256" }, claims, hs512))).toEqual(wrong);
  });

  it("with a critical extension is refused, since none is understood (RFC 7515, 4.1.11)", async () => {
    expect(await judge(token({ alg: "HS256", crit: ["exp"] }))).toEqual(malformed);
    expect(await judge(token({ alg: "HS256", crit: [] }))).toEqual(malformed);
  });

  it("takes no key that it brings along", async () => {
    const own = "made-up-secret-of-somebody";
    const signer = (text: Buffer) => createHmac("sha256", own).update(text).digest();
    const jwk = { kty: "oct", k: Buffer.from(own).toString("base64url") };
    for (const header of [
      { alg: "HS256", jwk },
      { alg: "HS256", jku: "https://somebody.example/keys" },
      { alg: "HS256", kid: "../../dev/null" },
      { alg: "HS256", x5u: "https://somebody.example/cert" },
    ]) {
      expect(await judge(token(header, claims, signer))).toEqual(wrong);
      expect(await judge(token(header, claims, () => Buffer.alloc(32)))).toEqual(wrong);
    }
  });

  it.each([
    ["exp, 5 s past", { exp: now - 5 }, true],
    ["exp, 6 s past", { exp: now - 6 }, false],
    ["exp as a text", { exp: String(now + 60) }, false],
    ["exp that is null", { exp: null }, false],
    ["nbf, 5 s ahead", { nbf: now + 5 }, true],
    ["nbf, 6 s ahead", { nbf: now + 6 }, false],
    ["nbf as a text", { nbf: String(now) }, false],
    ["no nbf", { nbf: undefined }, true],
    ["no exp", { exp: undefined }, false],
    ["no hash of the body", { sha256: undefined }, false],
    ["the hash of an empty body", { sha256: sha256("", "base64") }, false],
    ["the hash in hex", { sha256: sha256(body, "hex") }, false],
    ["a list of hashes", { sha256: [sha256(body, "base64")] }, false],
  ])("%s: accepted is %s", async (_, other, ok) => {
    expect((await judge(token({ alg: "HS256" }, { ...claims, ...other }))).ok).toBe(ok);
  });

  it("with a date beyond numbers is refused", async () => {
    const text = JSON.stringify(claims).replace(String(now + 60), "1e999");
    expect(await judge(token({ alg: "HS256" }, text))).toEqual({ ok: false, reason: "missing_timestamp" });
  });

  it("that isn't one is refused", async () => {
    const [head, middle, tail] = token().split(".") as [string, string, string];
    for (const each of [
      `${head}.${middle}`,
      `${head}.${middle}.`,
      `.${middle}.${tail}`,
      `${head}..${tail}`,
      `${token()}.`,
      `${token()}.${tail}`,
      `${token()}=`,
      `${token()}, ${token()}`,
      `${head}.${middle}.${tail.replace(/[-_A-Za-z]/, "+")}`,
      token("[]"),
      token('"HS256"'),
      token("null"),
      token("{"),
      token({ alg: "HS256" }, "[]"),
      token({ alg: "HS256" }, "null"),
      token({ alg: "HS256", more: "x".repeat(9_000) }),
    ]) {
      expect(await judge(each), each.slice(0, 100)).toEqual(malformed);
    }
  });

  it("is for one body", async () => {
    expect(await judge(token(), `${body} `)).toEqual(wrong);
    expect(await judge(token(), "")).toEqual(wrong);
  });
});

describe("MessageBird's token", () => {
  const secret = "made-up-secret-of-messagebird";
  const sent = (given: object, text: string, url = PUBLIC_URL) => {
    const signer = (bytes: Buffer) => createHmac("sha256", secret).update(bytes).digest();
    const claims = { exp: now + 60, url_hash: sha256(PUBLIC_URL, "hex"), ...given };
    const headers = { "messagebird-signature-jwt": jsonWebToken({ alg: "HS256" }, claims, signer) };
    return verifyRequest("messagebird", { url, headers, body: text }, { secrets: [secret], now: NOW_MS });
  };

  it("has no hash of an empty body, and must have one of another", async () => {
    expect(await sent({}, "")).toMatchObject({ ok: true });
    expect(await sent({}, "{}")).toEqual(wrong);
    expect(await sent({ payload_hash: sha256("{}", "hex") }, "{}")).toMatchObject({ ok: true });
    // The body got lost on its way.
    expect(await sent({ payload_hash: sha256("{}", "hex") }, "")).toEqual(wrong);
    expect(await sent({ payload_hash: null }, "")).toEqual(wrong);
  });

  it("binds the URL", async () => {
    expect(await sent({}, "", `${PUBLIC_URL}&x=1`)).toEqual(wrong);
    expect(await sent({}, "", "")).toEqual({ ok: false, reason: "missing_signed_part" });
    expect(await sent({ url_hash: undefined }, "")).toEqual(wrong);
  });
});

describe("Plaid's token, ES256", () => {
  const pair = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const jwk = JSON.stringify(pair.publicKey.export({ format: "jwk" }));
  const claims = { iat: now, request_body_sha256: sha256(body, "hex") };
  const signer = (text: Buffer) => signBytes("sha256", text, es256(pair.privateKey));
  const token = (header: object = {}, given: object = claims, by = signer) =>
    jsonWebToken({ alg: "ES256", kid: "made-up-kid", ...header }, given, by);
  const asked: unknown[] = [];
  const judge = (text: string, secret = jwk, fetched = jwk) =>
    verifyRequest(
      "plaid",
      { headers: { "plaid-verification": text }, body },
      {
        secrets: [secret],
        now: NOW_MS,
        fetchKey: async (wanted) => {
          asked.push(wanted);
          return fetched;
        },
      },
    );

  it("is accepted by a JWK as it is, and by one that is fetched by its id", async () => {
    expect(await judge(token())).toMatchObject({ ok: true });
    expect(asked).toEqual([]);
    expect(await judge(token(), "client:made-up")).toMatchObject({ ok: true });
    expect(asked).toEqual([
      { kind: "jwk", provider: "plaid", kid: "made-up-kid", credentials: "client:made-up" },
    ]);
  });

  it("keyed with the public key as if it were a secret is refused", async () => {
    const pem = pair.publicKey.export({ format: "pem", type: "spki" }) as string;
    for (const key of [jwk, pem, pem.trim()]) {
      const forged = (text: Buffer) => createHmac("sha256", key).update(text).digest();
      expect(await judge(token({ alg: "HS256" }, claims, forged))).toEqual(malformed);
      expect(await judge(token({}, claims, forged))).toEqual(wrong);
    }
  });

  it("asks for no key of an id that could be a path, and for none without an id", async () => {
    asked.length = 0;
    for (const kid of ["../keys", "a b", "a/b", "", "a".repeat(201), 7, null, ["made-up-kid"], "a\n"]) {
      expect(await judge(token({ kid }), "client:made-up"), JSON.stringify(kid)).toEqual(wrong);
    }
    expect(asked).toEqual([]);
  });

  it.each([
    ["a private key", JSON.stringify(pair.privateKey.export({ format: "jwk" }))],
    ["a symmetric one", JSON.stringify({ kty: "oct", k: "bWFkZSB1cA" })],
    [
      "one of another curve",
      JSON.stringify(generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey.export({ format: "jwk" })),
    ],
    [
      "another's",
      JSON.stringify(generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" })),
    ],
    ["no key", "{}"],
    ["no JSON", "<html>"],
  ])("takes no fetched key that is %s", async (_, fetched) => {
    expect(await judge(token(), "client:made-up", fetched)).toEqual(wrong);
  });

  it.each([
    [-300, true],
    [-301, false],
    [300, true],
    [301, false],
  ])("issued %d s from now: accepted is %s", async (seconds, ok) => {
    expect((await judge(token({}, { ...claims, iat: now + seconds }))).ok).toBe(ok);
  });

  it("without iat, or with another kind of it, is refused", async () => {
    for (const iat of [undefined, String(now), null, {}]) {
      expect(await judge(token({}, { ...claims, iat }))).toEqual({ ok: false, reason: "missing_timestamp" });
    }
  });

  it("in DER and not in the form of RFC 7518 is refused", async () => {
    const der = (text: Buffer) => signBytes("sha256", text, pair.privateKey);
    expect(await judge(token({}, claims, der))).toEqual(wrong);
  });
});
