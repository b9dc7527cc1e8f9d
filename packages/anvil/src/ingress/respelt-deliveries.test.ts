import { createSign, generateKeyPairSync } from "node:crypto";
import { expect, it } from "vitest";
import { silentLog } from "../contract/log.ts";
import { headerLookup } from "../signatures/headers.ts";
import { type Provider, providers, resolveConfig, signRequest } from "../signatures/index.ts";
import type { ResolvedSource } from "../signatures/sources.ts";
import { verifyReceived } from "../signatures/verify.ts";
import { toEnvelopes } from "./to-envelopes.ts";

/**
 * Whoever has captured a delivery can spell it differently where the signature doesn't mind: a form's order, a field
 * that isn't signed, the other half of an ECDSA signature. It must stay the event that it was.
 */
const NOW = 1_760_000_000_000;
const URL_ = "https://hooks.example/hook";
const form = { "content-type": "application/x-www-form-urlencoded" };

async function keyOf(name: string, secret: string, headers: Record<string, string>, body: string) {
  const config = { sources: { it: { provider: name, secret, url: URL_ } } };
  const source = resolveConfig(config).sources.get("it") as ResolvedSource;
  const bytes = new TextEncoder().encode(body);
  const received = { method: "POST", url: URL_, header: headerLookup(headers), body: bytes };
  const verified = await verifyReceived(source.provider, source.schemes, received, { nowMs: NOW });
  if (!verified.ok) throw new Error(verified.reason);
  return toEnvelopes(source, verified, received, NOW, undefined, silentLog).map(({ key }) => key);
}

function signed(name: string, secret: string, body: string, headers: Record<string, string> = {}) {
  const row = providers.get(name) as Provider;
  const unsigned = { url: URL_, headers, body: new TextEncoder().encode(body) };
  const request = signRequest(row, unsigned, secret, { nowMs: NOW });
  return { headers: request.headers, body: new TextDecoder().decode(request.body) };
}

it.each(["twilio", "mandrill"])(
  "%s: the fields of a form in another order, or escaped differently",
  async (name) => {
    const secret = "made-up-secret-of-the-tests";
    const { headers, body } = signed(name, secret, "a=1&b=x+y", form);
    const first = await keyOf(name, secret, headers, body);
    expect(await keyOf(name, secret, headers, "b=x%20y&a=1")).toEqual(first);
    const other = signed(name, secret, "a=2&b=x+y", form);
    expect(await keyOf(name, secret, other.headers, other.body)).not.toEqual(first);
  },
);

it("braintree: a field more, or the payload's line break escaped differently", async () => {
  const secret = "made-up-public|made-up-private";
  const { headers, body } = signed("braintree", secret, "<notification>1</notification>");
  const first = await keyOf("braintree", secret, headers, body);
  expect(await keyOf("braintree", secret, headers, `${body}&more=1`)).toEqual(first);
  expect(await keyOf("braintree", secret, headers, body.replace(/%0A$/, ""))).toEqual(first);
  const other = signed("braintree", secret, "<notification>2</notification>");
  expect(await keyOf("braintree", secret, other.headers, other.body)).not.toEqual(first);
});

it("plaid: the other signature that ECDSA has for the same words", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const secret = JSON.stringify(publicKey.export({ format: "jwk" }));
  const body = '{"webhook_type":"ITEM"}';
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const hash = Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from(body))).toString("hex");
  const text = `${part({ alg: "ES256", kid: "k" })}.${part({ iat: NOW / 1000, request_body_sha256: hash })}`;
  const signature = createSign("sha256").update(text).sign({ key: privateKey, dsaEncoding: "ieee-p1363" });
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const s = BigInt(`0x${signature.subarray(32).toString("hex")}`);
  const mirrored = Buffer.concat([
    signature.subarray(0, 32),
    Buffer.from((order - s).toString(16).padStart(64, "0"), "hex"),
  ]);
  const key = (bytes: Buffer) =>
    keyOf("plaid", secret, { "plaid-verification": `${text}.${bytes.toString("base64url")}` }, body);
  expect(mirrored.equals(signature)).toBe(false);
  expect(await key(mirrored)).toEqual(await key(signature));
});
