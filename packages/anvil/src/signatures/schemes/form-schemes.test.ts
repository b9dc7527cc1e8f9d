import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { verifyRequest } from "../verify.ts";
import { NOW_MS, PUBLIC_URL, senderOf } from "./fixtures.ts";

type Name = Parameters<typeof verifyRequest>[0];
const FORM = "application/x-www-form-urlencoded";
const wrong = { ok: false, reason: "wrong_signature" };
const malformed = { ok: false, reason: "malformed_signature" };
const missing = { ok: false, reason: "missing_signature" };

const judge = (
  name: Name,
  headers: Record<string, string>,
  body: string,
  { type = FORM, url = PUBLIC_URL, secret = senderOf(name as string).secret } = {},
) =>
  verifyRequest(
    name,
    { url, headers: { "content-type": type, ...headers }, body },
    { secrets: [secret], now: NOW_MS },
  );

describe.each([
  ["twilio", "x-twilio-signature"],
  ["mandrill", "x-mandrill-signature"],
] as const)("%s, which signs the URL and a form", (name, header) => {
  const { secret } = senderOf(name);
  const signature = (text: string) => ({
    [header]: createHmac("sha1", secret).update(text).digest("base64"),
  });

  it("sorts the form by name, and each name's values; repetitions count once", async () => {
    const headers = signature(`${PUBLIC_URL}A1B2b1b3`);
    for (const body of ["A=1&B=2&b=1&b=3", "b=3&b=1&B=2&A=1", "b=1&A=1&b=3&B=2&b=1"]) {
      expect(await judge(name, headers, body), body).toMatchObject({ ok: true });
    }
    expect(await judge(name, headers, "A=1&B=2&b=1")).toEqual(wrong);
    expect(await judge(name, headers, "A=1&B=2&b=1&b=3&c=")).toEqual(wrong);
  });

  it("accepts no body that isn't read as a form under the signature of an empty one", async () => {
    const headers = signature(PUBLIC_URL);
    expect(await judge(name, headers, "")).toMatchObject({ ok: true });
    for (const type of ["application/json", "text/plain", "", `x; ${FORM}`, "multipart/form-data"]) {
      expect(await judge(name, headers, '{"made":"up"}', { type }), type).toMatchObject({ ok: false });
    }
    expect(await judge(name, headers, "&&&")).toMatchObject({ ok: false });
  });

  it("knows the form by its content type, in any case and with parameters", async () => {
    for (const type of [FORM.toUpperCase(), `${FORM}; charset=UTF-8`, ` ${FORM} `]) {
      expect(await judge(name, signature(`${PUBLIC_URL}A1`), "A=1", { type }), type).toMatchObject({
        ok: true,
      });
    }
    expect(await judge(name, signature(`${PUBLIC_URL}A1`), "A=1", { type: "text/plain" })).toMatchObject({
      ok: false,
    });
  });
});

describe("Twilio", () => {
  const { secret } = senderOf("twilio");
  const sign = (text: string, hash = "sha1") => createHmac(hash, secret).update(text).digest("base64");
  const json = '{"made":"up"}';
  const hash = createHash("sha256").update(json).digest("hex");

  it("binds other bodies by their hash in the URL, which must be the right one", async () => {
    const hashed = (value: string) => `${PUBLIC_URL}&bodySHA256=${value}`;
    const by = (url: string, body = json) =>
      judge("twilio", { "x-twilio-signature": sign(url) }, body, { url, type: "application/json" });
    expect(await by(hashed(hash))).toMatchObject({ ok: true });
    expect(await by(hashed(hash.toUpperCase()))).toMatchObject({ ok: true });
    for (const value of ["", hash.slice(1), `${hash}0`, hash.slice(2), `0${hash.slice(1)}`, "x".repeat(64)]) {
      expect(await by(hashed(value)), value).toEqual(wrong);
    }
    expect(await by(hashed(hash), "")).toEqual(wrong);
    // In the fragment, or under another name, it is no hash.
    expect(await by(`${PUBLIC_URL}#&bodySHA256x=${hash}`)).toEqual(wrong);
    expect(await by(`${PUBLIC_URL}&xbodySHA256=${hash}`)).toEqual(wrong);
    // Of two, the first counts, in any order.
    expect(await by(`${hashed("0".repeat(64))}&bodySHA256=${hash}`)).toEqual(wrong);
  });

  it("signs with SHA-256 where a header says so, and with nothing that isn't known", async () => {
    const text = `${PUBLIC_URL}A1`;
    const by = (settings: string, algorithm: string) =>
      judge(
        "twilio",
        { "x-twilio-signature": sign(text, algorithm), "x-twilio-webhooks-signature-settings": settings },
        "A=1",
      );
    expect(await by("key=made-up,algorithm=HMAC_SHA256", "sha256")).toMatchObject({ ok: true });
    expect(await by("key=made-up,algorithm=HMAC_SHA256", "sha1")).toEqual(wrong);
    expect(await by("key=made-up", "sha1")).toMatchObject({ ok: true });
    expect(await by("key=made-up", "sha256")).toEqual(wrong);
    for (const settings of ["algorithm=HMAC_MD5", "algorithm=none", "algorithm=HMAC_SHA256 x,algorithm=X"]) {
      expect(await by(settings, "md5"), settings).toEqual(malformed);
    }
  });
});

describe("Braintree", () => {
  const [publicKey, privateKey] = senderOf("braintree").secret.split("|") as [string, string];
  const key = createHash("sha1").update(privateKey).digest();
  const hmac = (text: string) => createHmac("sha1", key).update(text).digest("hex");
  const payload = Buffer.from("<notification><kind>check</kind></notification>").toString("base64");
  const pair = (text = payload, owner = publicKey) => `${owner}|${hmac(text)}`;
  const by = (signature: string, text = payload, more = "") =>
    judge("braintree", {}, `${new URLSearchParams({ bt_signature: signature, bt_payload: text })}${more}`);

  it("signs the payload, or the payload and a line break", async () => {
    expect(await by(pair())).toMatchObject({ ok: true });
    expect(await by(pair(`${payload}\n`))).toMatchObject({ ok: true });
    expect(await by(pair(`${payload}\n`), `${payload}\n`)).toMatchObject({ ok: true });
    expect(await by(pair(`${payload}\n\n`))).toEqual(wrong);
  });

  it("has a pair for each key; ours is the one that counts", async () => {
    const others = `other|${"0".repeat(40)}&another|${"1".repeat(40)}`;
    expect(await by(`${others}&${pair()}`)).toMatchObject({ ok: true });
    expect(await by(others)).toEqual(wrong);
    // Under another's name, our own signature is none.
    expect(await by(pair(payload, "other"))).toEqual(wrong);
    expect(await by(`|${hmac(payload)}`)).toEqual(wrong);
    expect(await by(hmac(payload))).toEqual(wrong);
    expect(await by(`${publicKey}|`)).toEqual(wrong);
    expect(await by(`${publicKey}|${hmac(payload)}00`)).toEqual(wrong);
    expect(await by(`${pair()}&`.repeat(40))).toEqual(malformed);
  });

  it("has one payload and one signature, and they are a form", async () => {
    const form = new URLSearchParams({ bt_signature: pair(), bt_payload: payload }).toString();
    for (const more of [`&bt_payload=${payload}`, `&bt_signature=${pair()}`, "&bt_payload="]) {
      expect(await by(pair(), payload, more)).toEqual(malformed);
    }
    expect(await judge("braintree", {}, form, { type: "application/json" })).toEqual(missing);
    for (const body of ["", "bt_payload=YQ==", `bt_signature=${pair()}`, "{}"]) {
      expect(await judge("braintree", {}, body), body).toEqual(missing);
    }
    for (const odd of ["<xml>", "YQ==!", "YQ== ", "Y\0Q", "é"]) {
      expect(await by(pair(odd), odd), odd).toEqual(malformed);
    }
  });

  it.each([`${publicKey}`, `${publicKey}|`, `|${privateKey}`, "|", `${publicKey}|a|b`])(
    "has no key in the secret %j",
    async (secret) => {
      const form = new URLSearchParams({ bt_signature: pair(), bt_payload: payload }).toString();
      expect(await judge("braintree", {}, form, { secret })).toEqual({ ok: false, reason: "no_key" });
    },
  );
});
