import { describe, expect, it } from "vitest";
import { verifyRequest } from "../verify.ts";
import { NOW_MS } from "./fixtures.ts";

const secret = "made-up-token";
const wrong = { ok: false, reason: "wrong_signature" };
const missing = { ok: false, reason: "missing_signature" };
const malformed = { ok: false, reason: "malformed_signature" };
type Name = Parameters<typeof verifyRequest>[0];
const judge = (name: Name, headers: Record<string, string | string[]>, body = "{}", ...secrets: string[]) =>
  verifyRequest(name, { headers, body }, { secrets: secrets.length > 0 ? secrets : [secret], now: NOW_MS });

describe("a token in a header", () => {
  it.each(["okta", "auth0"] as const)("of %s is the whole value, in its case", async (name) => {
    expect(await judge(name, { authorization: secret })).toMatchObject({ ok: true });
    for (const other of [
      secret.slice(1),
      secret.slice(0, -1),
      `${secret}x`,
      secret.toUpperCase(),
      `Bearer ${secret}`,
      `${secret}, ${secret}`,
      "x",
    ]) {
      expect(await judge(name, { authorization: other }), other).toEqual(wrong);
    }
    expect(await judge(name, { authorization: [secret, secret] })).toEqual(wrong);
    for (const empty of ["", " "]) expect(await judge(name, { authorization: empty })).toEqual(missing);
    expect(await judge(name, {})).toEqual(missing);
    expect(await judge(name, { authorization: "x".repeat(9_000) })).toEqual(malformed);
  });

  it("is any one of the secrets that are valid now", async () => {
    for (const token of ["made-up-old", "made-up-new"]) {
      expect(
        await judge(
          "telegram",
          { "x-telegram-bot-api-secret-token": token },
          "{}",
          "made-up-old",
          "made-up-new",
        ),
      ).toMatchObject({ ok: true });
    }
  });
});

describe("HTTP Basic", () => {
  const basic = (text: string) => Buffer.from(text).toString("base64");
  const login = "user:pass:word";

  it("is user and password, and the password may have a colon", async () => {
    for (const scheme of ["Basic", "basic", "BASIC"]) {
      const headers = { authorization: `${scheme} ${basic(login)}` };
      expect(await judge("chargebee", headers, "{}", login)).toMatchObject({ ok: true });
    }
    for (const other of ["user:pass", "user:", ":pass:word", "user:pass:word2", ""]) {
      const headers = { authorization: `Basic ${basic(other)}x` };
      expect(await judge("chargebee", headers, "{}", login), other).toEqual(wrong);
    }
    for (const value of [`Bearer ${basic(login)}`, basic(login), "Basic", `Basic${basic(login)}`]) {
      expect(await judge("chargebee", { authorization: value }, "{}", login), value).toEqual(malformed);
    }
  });

  it.each(["user", ":", "user:", ":password", ""])("isn't told by the secret %j", async (text) => {
    const headers = { authorization: `Basic ${basic(text)}` };
    expect(await judge("chargebee", headers, "{}", text)).toEqual({ ok: false, reason: "no_key" });
  });
});

describe("Microsoft Graph's clientState", () => {
  const items = (...states: unknown[]) =>
    JSON.stringify({ value: states.map((clientState) => ({ clientState })) });

  it("stands in every item, as the same text", async () => {
    expect(await judge("microsoft-graph", {}, items(secret, secret))).toMatchObject({ ok: true });
    expect(await judge("microsoft-graph", {}, items(secret, "another"))).toEqual(wrong);
    expect(await judge("microsoft-graph", {}, items("another", secret))).toEqual(wrong);
    for (const bad of [undefined, null, "", 7, [secret], { [secret]: 1 }]) {
      expect(await judge("microsoft-graph", {}, items(secret, bad)), JSON.stringify(bad)).toEqual(malformed);
    }
  });

  it.each([
    '{"value":[]}',
    "{}",
    "[]",
    "",
    "null",
    '{"value":null}',
    '{"value":{}}',
    '{"value":[{}]}',
    '{"value":[null,null]}',
    `{"value":{"clientState":"${secret}"}}`,
    `{"clientState":"${secret}"}`,
    `{"value":[{"__proto__":{"clientState":"${secret}"}}]}`,
  ])("is missing in %s", async (body) => {
    expect(await judge("microsoft-graph", {}, body)).toEqual(missing);
  });
});

describe("GitLab", () => {
  const signing = `whsec_${Buffer.from("made-up-key-of-gitlab").toString("base64")}`;

  it("never takes its signing token for a plain one", async () => {
    expect(await judge("gitlab", { "x-gitlab-token": secret })).toMatchObject({ ok: true });
    expect(await judge("gitlab", { "x-gitlab-token": signing }, "{}", signing)).toEqual(missing);
    // A source that has both: the plain token is still good, the signing token as a plain one isn't.
    expect(await judge("gitlab", { "x-gitlab-token": secret }, "{}", signing, secret)).toMatchObject({
      ok: true,
    });
    expect(await judge("gitlab", { "x-gitlab-token": signing }, "{}", signing, secret)).toEqual(wrong);
  });

  it("judges a delivery that has a signature by it, whatever token it brings", async () => {
    const headers = {
      "x-gitlab-token": secret,
      "webhook-id": "made-up",
      "webhook-timestamp": String(NOW_MS / 1000),
      "webhook-signature": `v1,${Buffer.alloc(32).toString("base64")}`,
    };
    expect(await judge("gitlab", headers, "{}", signing, secret)).toEqual(wrong);
  });
});
