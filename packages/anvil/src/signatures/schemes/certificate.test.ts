import { describe, expect, it } from "vitest";
import type { SignedRequest } from "../sign.ts";
import { verifyRequest } from "../verify.ts";
import { CERTIFICATE, NOW_MS, senderOf, signedBySns, TOPIC } from "./fixtures.ts";

const untrusted = { ok: false, reason: "untrusted_certificate" };

/** The verdict, and what was fetched for it. Whatever URL is asked for, the right certificate is there. */
async function judge(
  name: "paypal" | "aws-sns",
  request: SignedRequest,
  { certificate = CERTIFICATE, now = NOW_MS, secret = senderOf(name).secret } = {},
) {
  const fetched: string[] = [];
  const fetchKey = async (wanted: { kind: string; url?: string }) => {
    fetched.push(wanted.url ?? wanted.kind);
    return certificate;
  };
  return { verdict: await verifyRequest(name, request, { secrets: [secret], now, fetchKey }), fetched };
}

const paypal = (changes: Record<string, string> = {}) => {
  const request = senderOf("paypal").sign({ id: "WH-made-up" });
  return { ...request, headers: { ...request.headers, ...changes } };
};
type Message = Record<string, unknown>;
const sns = (changes: Message = {}, signed: Message = {}): SignedRequest => {
  const right = JSON.parse(
    new TextDecoder().decode(senderOf("aws-sns").sign({ id: "made-up-id" }).body),
  ) as Message;
  const request = signedBySns(Buffer.from(JSON.stringify({ ...right, ...signed })));
  const message = { ...(JSON.parse(new TextDecoder().decode(request.body)) as Message), ...changes };
  return { ...request, body: Buffer.from(JSON.stringify(message)) };
};

describe("the URL of a certificate", () => {
  const path = "/v1/notifications/certs/CERT-made-up";

  it.each(["api.paypal.com", "api.sandbox.paypal.com", "api-m.paypal.com", "api-m.sandbox.paypal.com"])(
    "of PayPal may be on %s",
    async (host) => {
      const { verdict, fetched } = await judge(
        "paypal",
        paypal({ "paypal-cert-url": `https://${host}${path}` }),
      );
      expect(verdict).toMatchObject({ ok: true });
      expect(fetched).toHaveLength(1);
    },
  );

  it.each([
    `http://api.paypal.com${path}`,
    `HTTPS://api.paypal.com${path}`,
    `https://api.paypal.com.somebody.example${path}`,
    `https://api.paypal.com@somebody.example${path}`,
    `https://api.paypal.com:443${path}`,
    `https://api.paypal.com:8443${path}`,
    `https://somebody.example/api.paypal.com${path}`,
    `https://somebody.example#api.paypal.com${path}`,
    `https://somebody.example?api.paypal.com${path}`,
    `https://somebody.example\\@api.paypal.com${path}`,
    `https://somebody.example\\.api.paypal.com${path}`,
    `https://evilapi.paypal.com${path}`,
    `https://www.paypal.com${path}`,
    `https://api.paypal.com.${path}`,
    `https://api-paypal.com${path}`,
    `https://apiXpaypal.com${path}`,
    `https://paypal.com${path}`,
    `https://api.paypaI.com${path}`,
    `https://api.раypal.com${path}`,
    `https://api.paypal.com${path}?x=1`,
    `https://api.paypal.com${path}#x`,
    "https://api.paypal.com/certs/../../redirect",
    "https://api.paypal.com/%2e%2e/redirect",
    "https://api.paypal.com",
    "https:api.paypal.com/x",
    "//api.paypal.com/x",
    "file:///api.paypal.com/x",
    "data:text/plain,https://api.paypal.com/x",
    `https://api.paypal.com/${"x".repeat(500)}`,
    `https://127.0.0.1${path}`,
    `https://[::1]${path}`,
    `https://api.paypal.com${path} https://somebody.example`,
    `https://api.paypal.com${path}\n`.repeat(2),
  ])("of PayPal isn't %j, and nothing is fetched", async (url) => {
    const { verdict, fetched } = await judge("paypal", paypal({ "paypal-cert-url": url }));
    expect(verdict).toEqual(untrusted);
    expect(fetched).toEqual([]);
  });

  const pem = "/SimpleNotificationService-0123456789abcdef.pem";
  it.each([
    `https://sns.us-east-1.amazonaws.com${pem}`,
    `https://sns.us-gov-west-1.amazonaws.com${pem}`,
    `https://sns.cn-north-1.amazonaws.com.cn${pem}`,
  ])("of SNS may be %s", async (url) => {
    expect((await judge("aws-sns", sns({ SigningCertURL: url }))).verdict).toMatchObject({ ok: true });
  });

  it.each([
    // Buckets that anybody can own.
    `https://sns.s3.amazonaws.com${pem}`,
    `https://sns.s3-us-west-2.amazonaws.com${pem}`,
    `https://sns.s3-website-us-east-1.amazonaws.com${pem}`,
    `https://sns.s3-accelerate.amazonaws.com${pem}`,
    `https://s3.amazonaws.com/sns.us-east-1.amazonaws.com${pem}`,
    `https://evil.sns.us-east-1.amazonaws.com${pem}`,
    `https://sns.us-east-1.amazonaws.com.somebody.example${pem}`,
    `https://sns.us-east-1.amazonaws.com@somebody.example${pem}`,
    `https://sns.us-east-1.amazonaws.com:444${pem}`,
    `https://sns.us-east-1.amazonaws.org${pem}`,
    `https://sns.amazonaws.com${pem}`,
    `http://sns.us-east-1.amazonaws.com${pem}`,
    "https://sns.us-east-1.amazonaws.com/x.pem?redirect=somebody.example",
    "https://sns.us-east-1.amazonaws.com/x",
    "https://sns.us-east-1.amazonaws.com/?x=.pem",
    "",
  ])("of SNS isn't %s, and nothing is fetched", async (url) => {
    const { verdict, fetched } = await judge("aws-sns", sns({ SigningCertURL: url }));
    expect(verdict).toEqual(untrusted);
    expect(fetched).toEqual([]);
  });

  it("leads to a certificate that has not expired, or to none that counts", async () => {
    expect(
      (await judge("paypal", paypal(), { now: Date.parse("2034-01-01T00:00:00Z") })).verdict,
    ).toMatchObject({
      ok: true,
    });
    expect((await judge("paypal", paypal(), { now: Date.parse("2034-01-01T00:00:01Z") })).verdict).toEqual(
      untrusted,
    );
    for (const certificate of [
      "",
      "<html>",
      CERTIFICATE.slice(0, 300),
      CERTIFICATE.replace(/[A-Z]{3}/, "%%%"),
    ]) {
      expect((await judge("paypal", paypal(), { certificate })).verdict).toEqual(untrusted);
    }
  });
});

describe("PayPal", () => {
  const malformed = { ok: false, reason: "malformed_signature" };

  it.each(["SHA1withRSA", "sha256withrsa", "SHA256withRSA, SHA1withRSA", "SHA256withECDSA", "none"])(
    "signs with no other algorithm, such as %s",
    async (algorithm) => {
      const { verdict, fetched } = await judge("paypal", paypal({ "paypal-auth-algo": algorithm }));
      expect(verdict).toEqual(malformed);
      expect(fetched).toEqual([]);
    },
  );

  it("names its algorithm", async () => {
    const { "paypal-auth-algo": _, ...headers } = paypal().headers;
    expect((await judge("paypal", { ...paypal(), headers })).verdict).toEqual(malformed);
  });

  it("has no bar in what is signed, which would move where it ends", async () => {
    const { headers } = paypal();
    const id = headers["paypal-transmission-id"];
    const time = headers["paypal-transmission-time"];
    const moved = { "paypal-transmission-id": `${id}|${time}`, "paypal-transmission-time": "x" };
    expect((await judge("paypal", paypal(moved))).verdict).toEqual(malformed);
  });

  it("binds the body by its CRC-32, of bytes and not of text", async () => {
    const request = paypal();
    const wrong = { ok: false, reason: "wrong_signature" };
    const invalid = (byte: number) => Uint8Array.from([...request.body, byte]);
    expect((await judge("paypal", { ...request, body: invalid(0xff) })).verdict).toEqual(wrong);
    expect((await judge("paypal", { ...request, body: new Uint8Array() })).verdict).toEqual(wrong);
    expect((await judge("paypal", request, { secret: "ANOTHER-WEBHOOK-ID" })).verdict).toEqual(wrong);
  });
});

describe("SNS", () => {
  const malformed = { ok: false, reason: "malformed_signature" };
  const wrong = { ok: false, reason: "wrong_signature" };
  const missing = { ok: false, reason: "missing_signed_part" };
  const confirmation = {
    Type: "SubscriptionConfirmation",
    Token: "made-up-token",
    SubscribeURL: "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription",
  };

  it("signs each type of message with the fields of its own", async () => {
    for (const Type of ["SubscriptionConfirmation", "UnsubscribeConfirmation"]) {
      expect((await judge("aws-sns", sns({}, { ...confirmation, Type }))).verdict).toMatchObject({
        ok: true,
      });
    }
    expect((await judge("aws-sns", sns({}, { Subject: "made up" }))).verdict).toMatchObject({ ok: true });
    expect((await judge("aws-sns", sns({ Subject: "added" }))).verdict).toEqual(wrong);
    expect((await judge("aws-sns", sns(confirmation))).verdict).toEqual(wrong);
  });

  it.each(["notification", "constructor", "__proto__", "toString", "", 7, null])(
    "has no type %j",
    async (Type) => {
      const { verdict, fetched } = await judge("aws-sns", sns({ Type }));
      expect(verdict).toEqual(malformed);
      expect(fetched).toEqual([]);
    },
  );

  it("signs by the version that it names, and no other", async () => {
    expect((await judge("aws-sns", sns({}, { SignatureVersion: "1" }))).verdict).toMatchObject({ ok: true });
    expect((await judge("aws-sns", sns({ SignatureVersion: "1" }))).verdict).toEqual(wrong);
    expect(
      (await judge("aws-sns", sns({ SignatureVersion: "2" }, { SignatureVersion: "1" }))).verdict,
    ).toEqual(wrong);
    for (const SignatureVersion of ["0", "3", "", "constructor", 2, null]) {
      expect((await judge("aws-sns", sns({ SignatureVersion }))).verdict).toEqual(malformed);
    }
  });

  it.each(["MessageId", "Message", "TopicArn", "Timestamp", "Token", "SubscribeURL"])(
    "signs nothing without %s",
    async (name) => {
      const { verdict } = await judge("aws-sns", sns({}, { ...confirmation, [name]: undefined }));
      expect(verdict.ok).toBe(false);
    },
  );

  it("keeps its id where it is: not at the end of the message, and not another from inside it", async () => {
    const right = JSON.parse(new TextDecoder().decode(sns().body)) as Record<string, string>;
    const moved = { Message: `${right.Message}\nMessageId\n${right.MessageId}`, MessageId: undefined };
    expect((await judge("aws-sns", sns(moved))).verdict).toEqual(missing);
    // The message has lines that look like fields, which its sender may have put there.
    const [before, inner] = (right.Message as string).split("\nMessageId\n") as [string, string];
    const split = { Message: before, MessageId: `${inner}\nMessageId\n${right.MessageId}` };
    expect((await judge("aws-sns", sns(split))).verdict).toEqual(missing);
  });

  it("speaks for its own topic; an asterisk stands for the rest of a name", async () => {
    const topics: [string, boolean][] = [
      [TOPIC, true],
      [`${TOPIC.slice(0, -3)}*`, true],
      ["*", true],
      [TOPIC.slice(0, -1), false],
      [`${TOPIC}x`, false],
      [TOPIC.replace("123456789012", "999999999999"), false],
      [`${TOPIC.replace("123456789012", "999999999999").slice(0, -3)}*`, false],
      [TOPIC.toUpperCase(), false],
    ];
    for (const [secret, ok] of topics) {
      const { verdict, fetched } = await judge("aws-sns", sns(), { secret });
      expect(verdict.ok, secret).toBe(ok);
      if (!ok) expect(verdict).toEqual({ ok: false, reason: "other_topic" });
      expect(fetched).toHaveLength(ok ? 1 : 0);
    }
  });

  it.each([
    [3_600, true],
    [3_601, false],
    [-3_600, true],
    [-3_601, false],
  ])("is accepted %d s after it was sent: %s", async (seconds, ok) => {
    expect((await judge("aws-sns", sns(), { now: NOW_MS + seconds * 1000 })).verdict.ok).toBe(ok);
  });
});
