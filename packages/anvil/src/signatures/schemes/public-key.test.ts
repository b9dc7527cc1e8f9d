import { generateKeyPairSync, type KeyObject, sign as signBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { utf8 } from "../fixtures.ts";
import { providers } from "../providers/index.ts";
import type { SignedRequest } from "../sign.ts";
import { verifyRequest } from "../verify.ts";
import { everySender, NOW_MS, senderOf } from "./fixtures.ts";
import { keyedSchemes } from "./index.ts";

const keysOf = (provider: string, secret: string) =>
  keyedSchemes({ scheme: providers.get(provider)?.scheme ?? [] }, [secret]);
const spki = (key: KeyObject) => key.export({ format: "der", type: "spki" });
const verdict = (provider: string, request: SignedRequest, ...secrets: string[]) =>
  verifyRequest(provider as "svix", request, { secrets, now: NOW_MS });

describe("a public key", () => {
  const discord = senderOf("discord").secret;
  const sendgrid = senderOf("sendgrid").secret;
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey;
  const ed25519 = generateKeyPairSync("ed25519").publicKey;
  const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey;

  it("of Discord is 64 digits of hex, in either case, and nothing else", () => {
    expect(keysOf("discord", discord)).toHaveLength(1);
    expect(keysOf("discord", discord.toUpperCase())).toHaveLength(1);
    for (const other of [
      discord.slice(1),
      `${discord}0`,
      `${discord}00`,
      ` ${discord}`,
      `${discord}\n`,
      `0x${discord.slice(2)}`,
      discord.replace(/.$/, "g"),
      Buffer.from(discord, "hex").toString("base64"),
      spki(ed25519).toString("base64"),
    ]) {
      expect(keysOf("discord", other), JSON.stringify(other)).toEqual([]);
    }
  });

  it("of SendGrid is on P-256, as DER in base64 or as PEM", () => {
    const pem = `-----BEGIN PUBLIC KEY-----\n${sendgrid}\n-----END PUBLIC KEY-----\n`;
    expect(keysOf("sendgrid", sendgrid)).toHaveLength(1);
    expect(keysOf("sendgrid", pem)).toHaveLength(1);
    for (const other of [
      spki(rsa).toString("base64"),
      spki(ed25519).toString("base64"),
      spki(p384).toString("base64"),
      rsa.export({ format: "pem", type: "spki" }) as string,
      sendgrid.slice(4),
      `${sendgrid}!`,
      "made-up-secret",
    ]) {
      expect(keysOf("sendgrid", other)).toEqual([]);
    }
  });

  it("that is a private one is refused", () => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const pem = privateKey.export({ format: "pem", type: "pkcs8" }) as string;
    expect(keysOf("sendgrid", pem)).toEqual([]);
    expect(
      keysOf("sendgrid", privateKey.export({ format: "der", type: "pkcs8" }).toString("base64")),
    ).toEqual([]);
  });
});

describe("signatures", () => {
  it.each([
    ["discord", "x-signature-ed25519"],
    ["sendgrid", "x-twilio-email-event-webhook-signature"],
  ])("of %s in another encoding, cut or lengthened are refused", async (name, header) => {
    const one = senderOf(name);
    const request = one.sign({ id: "made-up" });
    const text = request.headers[header] as string;
    const encoding = name === "discord" ? "hex" : "base64";
    const bytes = Buffer.from(text, encoding);
    expect(await verdict(name, request, one.secret)).toMatchObject({ ok: true });
    for (const forged of [
      text.slice(1),
      text.slice(0, -1),
      `${text}0`,
      `${text}==`,
      `${text}, ${text}`,
      `sha256=${text}`,
      bytes.toString(encoding === "hex" ? "base64" : "hex"),
      bytes.subarray(1).toString(encoding),
      Buffer.concat([bytes, Buffer.from([0])]).toString(encoding),
      Buffer.alloc(64).toString(encoding),
      Buffer.from("3006020100020100", "hex").toString(encoding),
    ]) {
      const headers = { ...request.headers, [header]: forged };
      expect(await verdict(name, { ...request, headers }, one.secret), forged).toMatchObject({ ok: false });
    }
  });

  it("of SendGrid in the form of JWTs are refused", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const sign = (dsaEncoding: "der" | "ieee-p1363") =>
      signBytes("sha256", Buffer.from(`${NOW_MS / 1000}[{}]`), { key: privateKey, dsaEncoding }).toString(
        "base64",
      );
    const judge = (signature: string) =>
      verdict(
        "sendgrid",
        {
          url: "",
          body: utf8("[{}]"),
          headers: {
            "x-twilio-email-event-webhook-timestamp": String(NOW_MS / 1000),
            "x-twilio-email-event-webhook-signature": signature,
          },
        },
        spki(publicKey).toString("base64"),
      );
    expect(await judge(sign("der"))).toMatchObject({ ok: true });
    expect(await judge(sign("ieee-p1363"))).toEqual({ ok: false, reason: "wrong_signature" });
  });
});

describe.each([
  ["standard-webhooks", "webhook"],
  ["svix", "svix"],
])("%s with v1a", (name, prefix) => {
  const shared = senderOf(name);
  const asymmetric = everySender.find(([each]) => each === `${name} with v1a`)?.[1] ?? shared;
  const header = `${prefix}-signature`;
  const symmetric = shared.sign({ id: "made-up" });
  const signed = asymmetric.sign({ id: "made-up" });
  const v1 = symmetric.headers[header] as string;
  const v1a = signed.headers[header] as string;
  const judge = (signature: string, ...secrets: string[]) =>
    verdict(name, { ...signed, headers: { ...signed.headers, [header]: signature } }, ...secrets);

  it("judges each signature by its own version and key", async () => {
    expect(signed.body).toEqual(symmetric.body);
    expect(v1a).toMatch(/^v1a,[A-Za-z0-9+/]{86}==$/);
    for (const list of [v1, `${v1} ${v1a}`, `${v1a} ${v1}`]) {
      expect(await judge(list, shared.secret)).toMatchObject({ ok: true });
    }
    for (const list of [v1a, `${v1} ${v1a}`, `${v1a} ${v1}`]) {
      expect(await judge(list, asymmetric.secret)).toMatchObject({ ok: true });
    }
    for (const list of [v1, v1a]) {
      expect(await judge(list, shared.secret, asymmetric.secret)).toMatchObject({ ok: true });
    }
    expect(await judge(v1a, shared.secret)).toEqual({ ok: false, reason: "missing_signature" });
    expect(await judge(v1, asymmetric.secret)).toEqual({ ok: false, reason: "missing_signature" });
  });

  it("never takes one version for the other", async () => {
    const swapped = [v1a.replace("v1a,", "v1,"), v1.replace("v1,", "v1a,")];
    for (const list of swapped) {
      expect(await judge(list, shared.secret, asymmetric.secret)).toEqual({
        ok: false,
        reason: "wrong_signature",
      });
    }
  });

  it("never keys an HMAC with the public key, by any provider", async () => {
    for (const [, { provider }] of everySender) {
      const keyed = keyedSchemes(provider, [asymmetric.secret]).filter(
        ({ scheme }) => scheme.kind === "hmac",
      );
      expect(keyed, provider.name).toEqual([]);
    }
  });

  it("takes no other key behind whpk_", () => {
    const raw = asymmetric.secret.slice("whpk_".length);
    for (const other of [`whpk_${raw.slice(4)}`, `whpk_${raw}AAAA`, "whpk_", `whsk_${raw}`]) {
      expect(keysOf(name, other), other).toEqual([]);
    }
  });
});
