import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { providers } from "./providers/index.ts";
import { KeyUnavailable } from "./schemes/engine.ts";
import { everySender, jsonWebToken, NOW_MS, PUBLIC_URL, senderOf } from "./schemes/fixtures.ts";
import { resolveConfig } from "./sources.ts";
import { type RequestToVerify, verifyRequest } from "./verify.ts";

const MEGABYTE = 1_000_000;
/** Of the processor's time. What grows with the square of its input, or backtracks, takes minutes for these. */
const LIMIT_MS = 3_000;

/** In a header or a URL. */
const LONG = [
  "a".repeat(MEGABYTE),
  `x${" ".repeat(200_000)}x`,
  ",".repeat(200_000),
  "v1,AA ".repeat(100_000),
  `t=1760000000${",v1=aa".repeat(100_000)}`,
  `ts=1760000000${";h1=aa".repeat(100_000)}`,
  `${"algorithm=A ".repeat(80_000)},`,
  `https://api.paypal.com/${"a/".repeat(100_000)}`,
  jsonWebToken("[".repeat(200_000), "{}", () => Uint8Array.of(1)),
];
const BODIES = [
  "[".repeat(100_000) + "]".repeat(100_000),
  `${'{"value":'.repeat(100_000)}1${"}".repeat(100_000)}`,
  `[${"{},".repeat(100_000)}{}]`,
  `{"notificationItems":[${"{},".repeat(100_000)}{}]}`,
  "bt_signature=a&bt_payload=b&".repeat(20_000),
  `bt_payload=b&bt_signature=${"a|b%26".repeat(100_000)}`,
];

const halves = fc.constantFrom("\ud83d", "\ude00", "\0", "\uffff", "\u2028", "\r\n", "é");
const pieces = fc.constantFrom(
  ...["t=", "v1=", "ts=", "h1=", "v1,", "v1a,", "sha256=", "sha1=", "v0=", "Bearer ", "Basic ", "e30.e30.AA"],
  ...["1760000000", "1760000000000", "2025-10-09T08:53:20Z", "a".repeat(64), "A".repeat(43), "A".repeat(87)],
  ...[
    "__proto__",
    "constructor",
    "https://api.paypal.com/x",
    "algorithm=HMAC_SHA256",
    ",",
    ";",
    " ",
    "|",
    "=",
  ],
);
const hostile = fc
  .array(fc.oneof(pieces, halves, fc.string({ unit: "binary", maxLength: 5 })), { maxLength: 12 })
  .map((parts) => parts.join(""));
const headerValue = fc.oneof(hostile, fc.array(hostile, { maxLength: 4 }), fc.constant(undefined));
const contentType = fc.constantFrom("application/json", "application/x-www-form-urlencoded", "\0", "");
const anyBody = fc.oneof(
  fc.uint8Array({ maxLength: 50 }),
  hostile,
  fc.json(),
  fc
    .dictionary(
      fc.constantFrom(
        "Type",
        "Signature",
        "SignatureVersion",
        "value",
        "notificationItems",
        "signature",
        "events",
      ),
      fc.oneof(fc.jsonValue(), fc.constantFrom("constructor", "__proto__", "1", "2", "Notification")),
    )
    .map((value) => JSON.stringify(value)),
  fc.constantFrom("[]", "[null]", "null", '{"value":[null]}', '{"value":[]}', '{"notificationItems":[{}]}'),
);
/** A part changed, repeated or swapped, in what was right before. */
const twist = fc.constantFrom(
  (value: string) => [value, value],
  (value: string) => ["", value],
  (value: string) => `${value},${value}`,
  (value: string) => `${value};`,
  (value: string) => value.slice(0, -1),
  (value: string) => `${value}\0`,
  (value: string) => value.toUpperCase(),
  (value: string) => [...value].reverse().join(""),
);

describe.each(everySender)("%s", (_, one) => {
  const { provider, secret } = one;
  const right = one.sign({ id: "made-up" });
  const names = Object.keys(right.headers);
  const fetchKey = async () => {
    throw new Error("something that nobody expects");
  };
  const judge = (request: RequestToVerify) =>
    verifyRequest(provider, request, { secrets: [secret], now: NOW_MS, fetchKey });

  it("comes to a verdict whatever the headers, the URL and the body", async () => {
    const headers = fc.record(Object.fromEntries(names.map((name) => [name, headerValue])));
    await fc.assert(
      fc.asyncProperty(headers, contentType, hostile, anyBody, async (given, type, url, body) => {
        const verdict = await judge({ method: "\0", url, headers: { ...given, "content-type": type }, body });
        expect(verdict.ok).toBe(false);
      }),
      { numRuns: 25 },
    );
  });

  it("comes to a verdict whatever is done to a header that was right", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), twist, anyBody, async (name, how, body) => {
        const headers = { ...right.headers, [name]: how(right.headers[name] as string) };
        expect((await judge({ ...right, headers })).ok).toBeTypeOf("boolean");
        expect((await judge({ ...right, headers, body })).ok).toBeTypeOf("boolean");
      }),
      { numRuns: 25 },
    );
  });

  it("takes no more than its time for a megabyte in any place", async () => {
    const start = process.cpuUsage();
    for (const name of names.filter((each) => each !== "content-type")) {
      for (const value of LONG) await judge({ ...right, headers: { ...right.headers, [name]: value } });
    }
    for (const body of BODIES) {
      const type = body.startsWith("bt_") ? "application/x-www-form-urlencoded" : "application/json";
      await judge({ ...right, headers: { ...right.headers, "content-type": type }, body });
    }
    for (const value of LONG.slice(0, 3)) await judge({ ...right, url: `${PUBLIC_URL}${value}` });
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1000).toBeLessThan(LIMIT_MS);
  });

  it("accepts nobody under an empty secret, or one that isn't set, or none", async () => {
    const none = { ok: false, reason: "no_key" };
    const unset = undefined as unknown as string;
    for (const secrets of [[""], ["", ""], [unset], []]) {
      const options = { secrets, now: NOW_MS, fetchKey: one.fetchKey };
      expect(await verifyRequest(provider, right, options)).toEqual(none);
      expect(await verifyRequest(provider, { headers: {}, body: "" }, options)).toEqual(none);
      // What an empty key would sign, and an empty token.
      const empty = Object.fromEntries(names.map((name) => [name, ""]));
      expect(await verifyRequest(provider, { ...right, headers: empty }, options)).toEqual(none);
    }
  });
});

describe("a source", () => {
  it.each([...providers.keys()])("of %s without a secret is refused at start", (provider) => {
    const config = (secret: unknown) => ({ sources: { hook: { provider, secret, url: PUBLIC_URL } } });
    for (const secret of ["", " ", undefined, [], [""], { env: "MADE_UP" }]) {
      expect(() => resolveConfig(config(secret), { MADE_UP: "" }), JSON.stringify(secret)).toThrow(
        /secret|MADE_UP/,
      );
      expect(() => resolveConfig(config(secret), {})).toThrow(/secret|MADE_UP/);
    }
    // It is the secret, and not the rest, that was wrong.
    expect(() => resolveConfig(config(senderOf(provider).secret))).not.toThrow();
  });
});

describe("what can't be fetched", () => {
  it.each(["paypal", "aws-sns"])("leaves %s without a verdict; another error is a refusal", async (name) => {
    const { provider, secret, sign } = senderOf(name);
    const judge = (error: Error) =>
      verifyRequest(provider, sign({ id: "made-up" }), {
        secrets: [secret],
        now: NOW_MS,
        fetchKey: async () => {
          throw error;
        },
      });
    await expect(judge(new KeyUnavailable("made up"))).rejects.toThrow(KeyUnavailable);
    expect(await judge(new RangeError("made up"))).toMatchObject({ ok: false });
  });
});
