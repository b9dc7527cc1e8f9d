import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  githubSender,
  hmacOf,
  hmacSender,
  keyOf,
  NOW_S,
  type Sender,
  sender,
  senders,
  standardWebhooksSender,
  stripeSender,
  utf8,
  verifyDelivery,
} from "./fixtures.ts";
import { stripe } from "./providers/stripe.ts";

const body = utf8('{"id":"evt_1","type":"invoice.paid"}');
const named = (list: readonly Sender[]) => list.map((one) => [one.provider.name, one] as const);
/** The name of the header that holds the signature, and its value. */
const signatureOf = (one: Sender, headers: Record<string, string>): [string, string] => {
  const name = hmacOf(one.provider).signature.header;
  return [name, headers[name] as string];
};

describe.each(named(senders))("%s", (_, one) => {
  const headers = one.sign(body);
  const [header, value] = signatureOf(one, headers);

  it("accepts its own delivery, and tells the signature's bytes", () => {
    const result = one.verify(headers, body);
    expect(result).toMatchObject({ ok: true });
    expect(result.ok && result.signature).toHaveLength(32);
  });

  it("finds its headers in lower, title and upper case, in an object and in Headers (H-09)", () => {
    const title = (name: string) => name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
    for (const spell of [(name: string) => name, title, (name: string) => name.toUpperCase()]) {
      const spelled = Object.fromEntries(Object.entries(headers).map(([name, text]) => [spell(name), text]));
      expect(one.verify(spelled, body)).toEqual(one.verify(headers, body));
      expect(one.verify(new Headers(spelled), body)).toEqual(one.verify(headers, body));
    }
  });

  it("takes white space around the signature", () => {
    expect(one.verify({ ...headers, [header]: ` \t${value} \t` }, body)).toMatchObject({ ok: true });
  });

  it("refuses a body that was trimmed or got a line break (H-08)", () => {
    const sent = utf8('\n{"id":"evt_1"}\r\n');
    const signed = one.sign(sent);
    expect(one.verify(signed, sent)).toMatchObject({ ok: true });
    expect(one.verify(signed, utf8('{"id":"evt_1"}'))).toEqual({ ok: false, reason: "wrong_signature" });
    expect(one.verify(headers, utf8(`${new TextDecoder().decode(body)}\n`))).toMatchObject({ ok: false });
  });

  it("signs every spelling of a JSON document by itself (H-05)", () => {
    const pairs = [
      ['{"a":"\\u001b"}', '{"a":"\\u001B"}'],
      ['{"a":"\\/"}', '{"a":"/"}'],
      ['{"a":  1}', '{"a":1}'],
      ['{"a":1.0}', '{"a":1}'],
    ].map((pair) => pair.map(utf8) as [Uint8Array, Uint8Array]);
    for (const [left, right] of pairs) {
      expect(one.verify(one.sign(left), left)).toMatchObject({ ok: true });
      expect(one.verify(one.sign(right), right)).toMatchObject({ ok: true });
      expect(one.verify(one.sign(left), right)).toMatchObject({ ok: false });
      expect(one.verify(one.sign(right), left)).toMatchObject({ ok: false });
    }
  });

  it("gives the same verdict under every charset (H-04)", () => {
    const sent = utf8('{"name":"😀 e\u0301 עברית"}');
    const signed = one.sign(sent);
    for (const charset of ["", "; charset=utf-8", "; charset=iso-8859-1"]) {
      const delivery = { ...signed, "content-type": `application/json${charset}` };
      expect(one.verify(delivery, sent)).toMatchObject({ ok: true });
    }
  });

  it("accepts either of two secrets, and the old one no more when it is gone (H-12)", () => {
    const other = {
      ...one,
      secret: one.provider.name === "standard-webhooks" ? "b3RoZXIgc2VjcmV0" : "whsec_other",
    };
    const rotated = sender(one.provider, other.secret, {}, [other.secret, one.secret]);
    const both = sender(one.provider, other.secret, {}, [one.secret, other.secret]);
    const only = sender(one.provider, other.secret);
    for (const receiver of [rotated, both]) {
      expect(receiver.verify(headers, body)).toMatchObject({ ok: true });
      expect(receiver.verify(rotated.sign(body, { headers }), body)).toMatchObject({ ok: true });
    }
    expect(only.verify(headers, body)).toEqual({ ok: false, reason: "wrong_signature" });
  });

  it("accepts nobody without a key", () => {
    expect(verifyDelivery(one.provider, { headers, body }, [], NOW_S * 1000)).toEqual({
      ok: false,
      reason: "wrong_signature",
    });
  });

  it("refuses a delivery without the signature, and one with an empty signature", () => {
    const { [header]: _, ...rest } = headers;
    expect(one.verify(rest, body)).toEqual({ ok: false, reason: "missing_signature" });
    for (const empty of ["", " ", "\t"]) {
      expect(one.verify({ ...rest, [header]: empty }, body)).toEqual({
        ok: false,
        reason: "missing_signature",
      });
    }
    expect(one.verify({ ...rest, [header]: undefined }, body)).toMatchObject({ reason: "missing_signature" });
  });

  it.each([0, 1, 2, 63, 65, 66, 128, 10_000])("refuses a signature of length %d (H-14)", (length) => {
    const { layout } = hmacOf(one.provider).signature;
    const start =
      layout.kind === "single" ? (layout.prefix ?? "") : layout.kind === "pairs" ? `t=${NOW_S},v1=` : "v1,";
    for (const character of ["a", "0", "=", "!", "\0"]) {
      const forged = { ...headers, [header]: start + character.repeat(length) };
      expect(one.verify(forged, body)).toMatchObject({ ok: false });
    }
    expect(one.verify(headers, body)).toMatchObject({ ok: true });
  });

  it("refuses a signature header that came twice with two forgeries (H-14)", () => {
    const forged = one.sign(utf8("{}"))[header] as string;
    expect(one.verify({ ...headers, [header]: [forged, forged] }, body)).toMatchObject({ ok: false });
    const repeated = new Headers({ ...headers, [header]: forged });
    repeated.append(header, forged);
    expect(one.verify(repeated, body)).toMatchObject({ ok: false });
  });

  it("reads a signature header that came twice alike in an object and in Headers", () => {
    const { [header]: _, ...rest } = headers;
    const repeated = new Headers(headers);
    repeated.append(header, value);
    const verdict = one.verify(repeated, body);
    expect(one.verify({ ...rest, [header]: [value, value] }, body)).toEqual(verdict);
    expect(one.verify({ ...rest, [header]: value, [header.toUpperCase()]: value }, body)).toEqual(verdict);
  });
});

describe("signatures in hex (H-13)", () => {
  const digest = createHmac("sha256", hmacSender.secret).update(body).digest("hex");
  const mixed = digest.replace(/[a-f]/, (letter) => letter.toUpperCase());

  it.each([digest, digest.toUpperCase(), mixed])("take %s, since they are bytes", (hex) => {
    for (const prefix of ["sha256=", "SHA256=", "Sha256=", ""]) {
      const result = hmacSender.verify({ "x-signature": prefix + hex }, body);
      expect(result).toMatchObject({ ok: true });
    }
  });

  it("give one key to one event, however its hex is spelled", () => {
    const plain = utf8("{}");
    const { "x-signature": signature = "" } = hmacSender.sign(plain);
    const keys = [signature, signature.toUpperCase(), signature.slice("sha256=".length)].map((spelling) =>
      keyOf(hmacSender.verify({ "x-signature": spelling }, plain), plain),
    );
    expect(new Set(keys).size).toBe(1);
  });

  it("need the prefix where the provider writes it", () => {
    const bare = createHmac("sha256", githubSender.secret).update(body).digest("hex");
    expect(githubSender.verify({ "x-hub-signature-256": `SHA256=${bare}` }, body)).toMatchObject({
      ok: true,
    });
    expect(githubSender.verify({ "x-hub-signature-256": bare }, body)).toEqual({
      ok: false,
      reason: "malformed_signature",
    });
  });

  it("never take sha1 for sha256", () => {
    for (const one of [hmacSender, githubSender]) {
      const sha1 = createHmac("sha1", one.secret).update(body).digest("hex");
      const header = hmacOf(one.provider).signature.header;
      for (const value of [`sha1=${sha1}`, `sha256=${sha1}`, sha1]) {
        expect(one.verify({ [header]: value, "x-hub-signature": `sha1=${sha1}` }, body)).toMatchObject({
          ok: false,
        });
      }
    }
  });

  it.each([" ", ",", "\n", "==", "zz", "00"])("refuse %j behind them", (garbage) => {
    expect(hmacSender.verify({ "x-signature": `sha256=${digest}${garbage}x` }, body)).toMatchObject({
      ok: false,
    });
    expect(
      hmacSender.verify({ "x-signature": `sha256=${digest.slice(0, 62)}${garbage}` }, body),
    ).toMatchObject({
      ok: false,
    });
  });
});

describe("signatures in base64", () => {
  it("are taken in their one exact spelling", () => {
    // 32 bytes end in a digit of which two bits are unused: other digits there decode to the same bytes.
    const { "webhook-signature": signature = "", ...rest } = standardWebhooksSender.sign(body);
    const verify = (spelling: string) =>
      standardWebhooksSender.verify({ ...rest, "webhook-signature": spelling }, body);
    const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const last = signature.at(-2) as string;
    const sibling = digits[digits.indexOf(last) ^ 1] as string;
    expect(Buffer.from(signature.slice(3, -2) + sibling, "base64")).toEqual(
      Buffer.from(signature.slice(3), "base64"),
    );
    expect(verify(signature)).toMatchObject({ ok: true });
    expect(verify(`${signature.slice(0, -2)}${sibling}=`)).toMatchObject({ ok: false });
    expect(verify(signature.slice(0, -1))).toMatchObject({ ok: false });
    expect(verify(`${signature}=`)).toMatchObject({ ok: false });
    expect(verify(`${signature}x`)).toMatchObject({ ok: false });
  });
});

describe("several signatures in Stripe's header (H-12)", () => {
  const good = createHmac("sha256", stripeSender.secret).update(`${NOW_S}.`).update(body).digest("hex");
  const bad = "0".repeat(64);

  it.each<[string, string, boolean]>([
    ["good before bad", `t=${NOW_S},v1=${good},v1=${bad}`, true],
    ["bad before good", `t=${NOW_S},v1=${bad},v1=${good}`, true],
    ["garbage before good", `t=${NOW_S},v1=,v1=zz,v1=${good}`, true],
    ["good with another version", `t=${NOW_S},v1=${good},v0=x`, true],
    ["the timestamp last", `v1=${good},t=${NOW_S}`, true],
    ["spaces", `t = ${NOW_S} , v1 = ${good}`, true],
    ["v0 only", `t=${NOW_S},v0=${good}`, false],
    ["v1 in another case", `t=${NOW_S},V1=${good}`, false],
    ["only bad ones", `t=${NOW_S},v1=${bad},v1=${bad}`, false],
    ["no timestamp", `v1=${good}`, false],
    ["an empty timestamp", `t=,v1=${good}`, false],
    ["a part without =", `t=${NOW_S},v1=${good},x`, false],
    ["a part without a name", `t=${NOW_S},v1=${good},=x`, false],
    ["another separator", `t=${NOW_S};v1=${good}`, false],
  ])("%s", (_, header, ok) => {
    expect(stripeSender.verify({ "stripe-signature": header }, body).ok).toBe(ok);
  });

  it.each([`t=${NOW_S},t=${NOW_S},v1=${good}`, `t=${NOW_S},v1=${good},t=1`, `t=1,t=${NOW_S},v1=${good}`])(
    "refuses two timestamps, since which of them was signed is not ours to guess: %#",
    (header) => {
      expect(stripeSender.verify({ "stripe-signature": header }, body)).toEqual({
        ok: false,
        reason: "malformed_signature",
      });
    },
  );
});

describe("several signatures in the header of Standard Webhooks (H-12)", () => {
  const { "webhook-signature": good = "", ...rest } = standardWebhooksSender.sign(body);
  const bad = `v1,${Buffer.alloc(32).toString("base64")}`;

  it.each<[string, string, boolean]>([
    ["good before bad", `${good} ${bad}`, true],
    ["bad before good", `${bad} ${good}`, true],
    ["another version before good", `v1a,AAAA ${good}`, true],
    ["two spaces", `${bad}  ${good}`, true],
    ["the same under another version", good.replace("v1,", "v1a,"), false],
    ["the same under no version", good.slice(3), false],
    ["only bad ones", `${bad} ${bad}`, false],
  ])("%s", (_, header, ok) => {
    expect(standardWebhooksSender.verify({ ...rest, "webhook-signature": header }, body).ok).toBe(ok);
  });

  it.each(["msg.1", "msg,1", "msg 1", "msg\n1"])("refuses the id %j, which blurs where it ends", (id) => {
    expect(
      standardWebhooksSender.verify({ ...rest, "webhook-signature": good, "webhook-id": id }, body),
    ).toEqual({
      ok: false,
      reason: "malformed_signed_header",
    });
  });

  it("refuses one signature for two readings of id, timestamp and body", () => {
    // `a.<t>.<t>.x` could be id `a` with body `<t>.x`, or id `a.<t>` with body `x`.
    const sent = utf8(`${NOW_S}.x`);
    const signed = standardWebhooksSender.sign(sent, { headers: { "webhook-id": "a" } });
    expect(standardWebhooksSender.verify(signed, sent)).toMatchObject({ ok: true });
    const moved = { ...signed, "webhook-id": `a.${NOW_S}` };
    expect(standardWebhooksSender.verify(moved, utf8("x"))).toMatchObject({ ok: false });
  });

  it("refuses a delivery whose signed id is missing, empty, or there twice", () => {
    const { "webhook-id": id = "", ...without } = rest;
    const verify = (more: Record<string, string | string[]>) =>
      standardWebhooksSender.verify({ ...without, "webhook-signature": good, ...more }, body);
    expect(verify({})).toEqual({ ok: false, reason: "missing_signed_header" });
    expect(verify({ "webhook-id": "" })).toEqual({ ok: false, reason: "missing_signed_header" });
    expect(verify({ "webhook-id": [id, id] })).toEqual({ ok: false, reason: "malformed_signed_header" });
  });
});

describe("the window of a signed timestamp (H-19)", () => {
  const timed = [stripeSender, standardWebhooksSender];

  it.each<[number, string | undefined]>([
    [-301, "timestamp_too_old"],
    [-300, undefined],
    [-299, undefined],
    [-1, undefined],
    [0, undefined],
    [1, undefined],
    [299, undefined],
    [300, undefined],
    [301, "timestamp_in_future"],
  ])("signed %d s from now: %s", (skewS, reason) => {
    for (const one of timed) {
      const result = one.verify(one.sign(body, { nowS: NOW_S + skewS }), body, { nowS: NOW_S });
      expect(result).toMatchObject(reason ? { ok: false, reason } : { ok: true });
    }
  });

  it("counts whole seconds, so a late fraction doesn't refuse the edge", () => {
    const key = utf8(stripeSender.secret);
    const headers = stripeSender.sign(body, { nowS: NOW_S - 300 });
    const at = (nowMs: number) => verifyDelivery(stripe, { headers, body }, [key], nowMs).ok;
    expect(at(NOW_S * 1000 + 999)).toBe(true);
    expect(at(NOW_S * 1000 + 1_000)).toBe(false);
  });

  it.each([
    "abc",
    "123abc",
    "1e9",
    `${NOW_S}000`,
    `-${NOW_S}`,
    `+${NOW_S}`,
    `${NOW_S}.0`,
    `0${NOW_S}`,
    `0x68e77a00`,
    "Infinity",
    "NaN",
    "٣",
    `${NOW_S},${NOW_S}`,
    `${NOW_S} ${NOW_S}`,
    "9".repeat(400),
  ])("refuses the timestamp %j although it is signed", (timestamp) => {
    const stripeSignature = createHmac("sha256", stripeSender.secret).update(`${timestamp}.`).update(body);
    const stripeHeaders = { "stripe-signature": `t=${timestamp},v1=${stripeSignature.digest("hex")}` };
    const key = Buffer.from(standardWebhooksSender.secret.slice("whsec_".length), "base64");
    const signature = createHmac("sha256", key).update(`msg_1.${timestamp}.`).update(body).digest("base64");
    const headers = {
      "webhook-id": "msg_1",
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${signature}`,
    };
    expect(stripeSender.verify(stripeHeaders, body)).toMatchObject({ ok: false });
    expect(standardWebhooksSender.verify(headers, body)).toMatchObject({ ok: false });
  });

  it("refuses a timestamp that is missing", () => {
    const { "webhook-timestamp": _, ...headers } = standardWebhooksSender.sign(body);
    expect(standardWebhooksSender.verify(headers, body)).toEqual({ ok: false, reason: "missing_timestamp" });
  });

  it("has none for providers that sign no time", () => {
    for (const one of [hmacSender, githubSender]) {
      expect(one.verify(one.sign(body), body, { nowS: NOW_S + 3 * 86_400 })).toMatchObject({ ok: true });
    }
  });

  it("gives a Stripe event delivered again, with a new timestamp and signature, the same key", () => {
    const keys = [NOW_S, NOW_S + 3_600].map((nowS) =>
      keyOf(stripeSender.verify(stripeSender.sign(body, { nowS }), body, { nowS }), body),
    );
    expect(keys[0]).toBe(keys[1]);
  });
});
