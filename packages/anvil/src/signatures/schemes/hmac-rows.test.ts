import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { utf8 } from "../fixtures.ts";
import type { Provider } from "../provider.ts";
import { providers } from "../providers/index.ts";
import { signRequest } from "../sign.ts";
import { verifyRequest } from "../verify.ts";
import { NOW_MS, PUBLIC_URL, senderOf } from "./fixtures.ts";

type Name = Parameters<typeof verifyRequest>[0];
const wrong = { ok: false, reason: "wrong_signature" };
const malformed = { ok: false, reason: "malformed_signature" };
const missing = { ok: false, reason: "missing_signature" };
const judge = (
  name: Name,
  headers: Record<string, string | string[]>,
  body: string,
  secrets: string[] = [senderOf(name as string).secret],
) => verifyRequest(name, { url: PUBLIC_URL, headers, body }, { secrets, now: NOW_MS });
const row = (name: string) => providers.get(name) as Provider;

describe("HubSpot", () => {
  const { secret } = senderOf("hubspot");
  const body = '[{"eventId":1}]';
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const v1 = { "x-hubspot-signature": sha256(secret + body) };
  const v2 = { "x-hubspot-signature": sha256(`${secret}POST${PUBLIC_URL}${body}`) };
  const v3 = signRequest(row("hubspot"), { url: PUBLIC_URL, body: utf8(body) }, secret, {
    nowMs: NOW_MS,
  }).headers;

  it("signs by its third version, and by the older ones alone", async () => {
    for (const headers of [v3, v1, v2, { ...v3, ...v1 }]) {
      expect(await judge("hubspot", headers, body)).toMatchObject({ ok: true });
    }
  });

  it("isn't believed by an older signature beside a wrong newer one", async () => {
    for (const older of [v1, v2]) {
      for (const newer of [Buffer.alloc(32).toString("base64"), "x", v1["x-hubspot-signature"]]) {
        const headers = { ...older, ...v3, "x-hubspot-signature-v3": newer };
        expect(await judge("hubspot", headers, body)).toMatchObject({ ok: false });
      }
      const late = { ...older, ...v3, "x-hubspot-request-timestamp": String(NOW_MS - 301_000) };
      expect(await judge("hubspot", late, body)).toEqual({ ok: false, reason: "timestamp_too_old" });
      const { "x-hubspot-request-timestamp": _, ...timeless } = { ...v3, ...older } as Record<string, string>;
      expect(await judge("hubspot", timeless, body)).toEqual({ ok: false, reason: "missing_timestamp" });
    }
  });

  it("accepts no body to which something was added: a plain hash can be carried on by anybody", async () => {
    // What the older version would sign, over bytes that are no JSON any more.
    for (const more of ["\x80\0\0\0more", "x", "[{}]", "\0"]) {
      const longer = body + more;
      expect(
        await judge("hubspot", { "x-hubspot-signature": sha256(secret + longer) }, longer),
        more,
      ).toEqual(wrong);
    }
    // Nor is what version 2 signs a body of version 1.
    expect(await judge("hubspot", v2, `POST${PUBLIC_URL}${body}`)).toEqual(wrong);
  });
});

describe("OpenAI", () => {
  const bytes = Buffer.from("made-up-key-of-openai");
  const encoded = `whsec_${bytes.toString("base64")}`;
  const text = "made-up-text-of-openai";
  const headersBy = (key: Uint8Array | string) => ({
    "webhook-id": "made-up",
    "webhook-timestamp": String(NOW_MS / 1000),
    "webhook-signature": `v1,${createHmac("sha256", key)
      .update(`made-up.${NOW_MS / 1000}.{}`)
      .digest("base64")}`,
  });

  it("keys with base64 behind whsec_, and with the text of another secret", async () => {
    expect(await judge("openai", headersBy(bytes), "{}", [encoded])).toMatchObject({ ok: true });
    expect(await judge("openai", headersBy(encoded), "{}", [encoded])).toEqual(wrong);
    expect(await judge("openai", headersBy(text), "{}", [text])).toMatchObject({ ok: true });
    expect(await judge("openai", headersBy(text), "{}", ["whsec_no base64!"])).toEqual({
      ok: false,
      reason: "no_key",
    });
  });

  it("takes both at once while one is replaced by the other", async () => {
    for (const secrets of [
      [encoded, text],
      [text, encoded],
    ]) {
      expect(await judge("openai", headersBy(bytes), "{}", secrets)).toMatchObject({ ok: true });
      expect(await judge("openai", headersBy(text), "{}", secrets)).toMatchObject({ ok: true });
    }
  });
});

describe("Cloudinary", () => {
  const { secret } = senderOf("cloudinary");
  const time = String(NOW_MS / 1000);
  const digest = (hash: string) => createHash(hash).update(`{}${time}${secret}`).digest("hex");
  const by = (signature: string) =>
    judge("cloudinary", { "x-cld-timestamp": time, "x-cld-signature": signature }, "{}");

  it("signs with SHA-1 or SHA-256, told by the length", async () => {
    expect(await by(digest("sha1"))).toMatchObject({ ok: true });
    expect(await by(digest("sha256"))).toMatchObject({ ok: true });
    for (const forged of [
      digest("sha256").slice(0, 40),
      digest("sha1") + digest("sha1").slice(0, 24),
      digest("md5"),
      digest("sha512"),
      createHmac("sha256", secret).update(`{}${time}`).digest("hex"),
    ]) {
      expect(await by(forged)).toEqual(wrong);
    }
  });
});

describe("DocuSign", () => {
  const good = (secret = senderOf("docusign").secret) =>
    createHmac("sha256", secret).update("{}").digest("base64");
  const other = good("made-up-other-secret");
  const by = (headers: Record<string, string | string[]>) => judge("docusign", headers, "{}");

  it("has a header for each key, of which any may be ours, up to ten", async () => {
    for (const n of [1, 2, 10]) {
      const others = Object.fromEntries(
        [1, 2, 3].filter((m) => m !== n).map((m) => [`X-DocuSign-Signature-${m}`, other]),
      );
      expect(await by({ ...others, [`X-DocuSign-Signature-${n}`]: good() })).toMatchObject({ ok: true });
    }
    for (const name of [
      "x-docusign-signature",
      "x-docusign-signature-0",
      "x-docusign-signature-11",
      "x-docusign-signature-01",
    ]) {
      expect(await by({ [name]: good() }), name).toEqual(missing);
    }
    expect(await by({ "x-docusign-signature-1": other, "x-docusign-signature-2": other })).toEqual(wrong);
    expect(await by({ "x-docusign-signature-1": [good(), good()] })).toEqual(malformed);
  });
});

describe("a header that comes twice, or holds more than one thing", () => {
  it.each(["github", "shopify", "slack", "linear", "zendesk", "square", "trello"] as const)(
    "is refused for %s, whichever of its values is right",
    async (name) => {
      const { secret, sign } = senderOf(name);
      const request = sign({ id: "made-up" });
      const body = new TextDecoder().decode(request.body);
      const header = Object.keys(request.headers).find((each) =>
        /signature$|sha256|256$|x-trello-webhook/.test(each),
      ) as string;
      const value = request.headers[header] as string;
      expect(await judge(name, request.headers, body, [secret])).toMatchObject({ ok: true });
      for (const twice of [
        [value, value],
        [value, "x"],
        ["x", value],
        [`${value},${value}`],
        [`${value};`],
        [`${value} ${value}`],
      ]) {
        expect(await judge(name, { ...request.headers, [header]: twice }, body, [secret])).toEqual(malformed);
      }
      const both = [
        [header, value],
        [header.toUpperCase(), value],
      ];
      expect(await judge(name, { ...request.headers, ...Object.fromEntries(both) }, body, [secret])).toEqual(
        malformed,
      );
    },
  );

  it.each(["standard-webhooks", "svix", "openai", "gitlab"] as const)(
    "is refused for %s too, where one header may list several signatures",
    async (name) => {
      const { secret, sign } = senderOf(name);
      const request = sign({ id: "made-up" });
      const body = new TextDecoder().decode(request.body);
      const prefix = name === "svix" ? "svix" : "webhook";
      const value = request.headers[`${prefix}-signature`] as string;
      const other = `v1,${Buffer.alloc(32).toString("base64")}`;
      const by = (headers: Record<string, string | string[]>) =>
        judge(name, { ...request.headers, ...headers }, body, [secret]);
      for (const list of [`${other} ${value}`, `${value} ${other}`, `v2,x ${value}`, `${value}  `]) {
        expect(await by({ [`${prefix}-signature`]: list })).toMatchObject({ ok: true });
      }
      for (const twice of [
        [value, value],
        [other, value],
        [value, other],
      ]) {
        expect(await by({ [`${prefix}-signature`]: twice })).toEqual(malformed);
      }
      const time = String(NOW_MS / 1000);
      expect(await by({ [`${prefix}-timestamp`]: [time, time] })).toEqual({
        ok: false,
        reason: "malformed_timestamp",
      });
      expect(await by({ [`${prefix}-id`]: ["made-up", "made-up"] })).toEqual({
        ok: false,
        reason: "malformed_signed_header",
      });
    },
  );

  it("of Stripe's kind may list a signature twice, and its time once", async () => {
    const { secret, sign } = senderOf("stripe");
    const request = sign({ id: "evt_made_up" });
    const body = new TextDecoder().decode(request.body);
    const value = request.headers["stripe-signature"] as string;
    const v1 = value.split(",")[1] as string;
    const by = (header: string | string[]) => judge("stripe", { "stripe-signature": header }, body, [secret]);
    expect(await by(`${value},${v1}`)).toMatchObject({ ok: true });
    expect(await by([value, value])).toEqual(malformed);
    // A signature of the test mode's own version alone is none.
    expect(await by(value.replace("v1=", "v0="))).toEqual(missing);
  });
});

describe("an older hash", () => {
  it.each([
    ["github", "x-hub-signature-256", "sha1"],
    ["bitbucket", "x-hub-signature", "sha1"],
    ["intercom", "x-hub-signature", "sha256"],
    ["meta", "x-hub-signature-256", "sha1"],
    ["slack", "x-slack-signature", "sha1"],
    ["vercel", "x-vercel-signature", "sha256"],
    ["segment", "x-signature", "sha256"],
  ] as const)("isn't taken by %s: %s with %s", async (name, header, hash) => {
    const { secret } = senderOf(name);
    const digest = createHmac(hash, secret).update("{}").digest("hex");
    for (const value of [digest, `${hash}=${digest}`, `sha256=${digest}`, `sha1=${digest}`, `v0=${digest}`]) {
      const headers = { [header]: value, "x-slack-request-timestamp": String(NOW_MS / 1000) };
      expect(await judge(name, headers, "{}"), value).toMatchObject({ ok: false });
    }
  });
});

describe("what begins the body", () => {
  it.each(["discord", "sendgrid"])("of %s is no digit, which could be the last of the time", async (name) => {
    const { secret, sign } = senderOf(name);
    const { headers, body } = sign({ id: "made-up" });
    const digits = `0${new TextDecoder().decode(body)}`;
    const time = name === "discord" ? "x-signature-timestamp" : "x-twilio-email-event-webhook-timestamp";
    // The window keeps SendGrid's; Discord promises none.
    const shifted = { ...headers, [time]: (headers[time] as string).slice(0, -1) };
    expect(await judge(name as Name, shifted, digits, [secret])).toMatchObject({ ok: false });
    expect(await judge(name as Name, headers, digits, [secret])).toEqual({
      ok: false,
      reason: "missing_signed_part",
    });
  });
});
