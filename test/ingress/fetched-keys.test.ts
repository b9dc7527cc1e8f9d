import { execFile } from "node:child_process";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";
import { sharedRedisUrl, snapshotKeys, temporaryFolder, uniquePrefix } from "anvil-testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Log } from "webhook-anvil";
import { httpsKeys } from "webhook-anvil/ingress";
import { type Answer, deployedHosts, type Host } from "./hosts.ts";

const TOPIC = "arn:aws:sns:eu-west-1:123456789012:made-up";
const CERTIFICATE_URL = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-made-up.pem";
const SUBSCRIBE_URL = `https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=made-up-token`;
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ec = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
const SIGNED = ["Message", "MessageId", "SubscribeURL", "Subject", "Timestamp", "Token", "TopicArn", "Type"];
let made = 0;

function sns(more: Record<string, string> = {}, key = rsa.privateKey): Record<string, string> {
  made += 1;
  const message = {
    Type: "Notification",
    MessageId: `made-up-${process.pid}-${made}`,
    TopicArn: TOPIC,
    Message: "made up",
    Timestamp: new Date().toISOString(),
    SignatureVersion: "2",
    SigningCertURL: CERTIFICATE_URL,
    ...more,
  } as Record<string, string>;
  const text = SIGNED.filter((name) => message[name] !== undefined).map(
    (name) => `${name}\n${message[name]}\n`,
  );
  return { ...message, Signature: sign("RSA-SHA256", Buffer.from(text.join("")), key).toString("base64") };
}
const confirmation = (more: Record<string, string> = {}) =>
  sns({ Type: "SubscriptionConfirmation", Token: "made-up-token", SubscribeURL: SUBSCRIBE_URL, ...more });

function paypal(certificateUrl = "https://api.paypal.com/v1/notifications/certs/CERT-made-up") {
  made += 1;
  const body = JSON.stringify({
    id: `WH-made-up-${process.pid}-${made}`,
    event_type: "PAYMENT.SALE.COMPLETED",
  });
  const id = `made-up-${made}`;
  const time = new Date().toISOString();
  const text = [id, time, "MADE-UP-WEBHOOK-ID", crc32(body)].join("|");
  const headers = {
    "paypal-transmission-id": id,
    "paypal-transmission-time": time,
    "paypal-cert-url": certificateUrl,
    "paypal-auth-algo": "SHA256withRSA",
    "paypal-transmission-sig": sign("RSA-SHA256", Buffer.from(text), rsa.privateKey).toString("base64"),
  };
  return { body, headers };
}

function plaid(kid = "made-up-kid", key = ec.privateKey) {
  made += 1;
  const body = JSON.stringify(
    { webhook_type: "ITEM", webhook_code: "ERROR", n: `${process.pid}-${made}` },
    null,
    2,
  );
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const hash = createHash("sha256").update(body).digest("hex");
  const text = `${part({ alg: "ES256", kid, typ: "JWT" })}.${part({ iat: Math.floor(Date.now() / 1000), request_body_sha256: hash })}`;
  const signature = sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" });
  return { body, headers: { "plaid-verification": `${text}.${signature.toString("base64url")}` } };
}

describe.each(deployedHosts.slice(0, 2))("keys that are fetched %s", (_, start) => {
  const prefix = uniquePrefix();
  const asked: string[] = [];
  const visited: string[] = [];
  const lines: string[] = [];
  const state = { providerIsUp: true, visitFails: false, expiredAt: null as number | null, now: 0 };
  let host: Host;
  const closers: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    const certificate = await selfSigned();
    const provider = createServer((incoming, answer) => {
      asked.push(incoming.url ?? "");
      if (!state.providerIsUp) return void answer.writeHead(503).end();
      if (incoming.method === "GET") return void answer.end(certificate);
      answer.end(
        JSON.stringify({ key: { ...ec.publicKey.export({ format: "jwk" }), expired_at: state.expiredAt } }),
      );
    });
    await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
    const { port } = provider.address() as AddressInfo;
    const keep = (fields: object, message: string) => void lines.push(JSON.stringify({ message, ...fields }));
    const log: Log = { info: keep, warn: keep, error: keep };
    host = await start({
      redis: sharedRedisUrl(),
      prefix,
      sources: {
        sns: { provider: "aws-sns", secret: TOPIC },
        paypal: { provider: "paypal", secret: "MADE-UP-WEBHOOK-ID" },
        plaid: { provider: "plaid", secret: "made-up-client:made-up-plaid-secret" },
      },
      log,
      fetchKey: httpsKeys({
        timeoutMs: 10_000,
        // So that a failure isn't kept from one test to the next.
        now: () => Date.now() + state.now,
        fetch: (url, init) =>
          fetch(String(url).replace(/^https:\/\/[^/]+/, `http://127.0.0.1:${port}`), init),
      }),
      visit: async (url) => {
        if (state.visitFails) throw new Error("sns.eu-west-1.amazonaws.com: status 500");
        visited.push(url);
      },
    });
    closers.push(
      () => host.close(),
      () => {
        provider.closeAllConnections();
        return new Promise((resolve) => provider.close(resolve));
      },
    );
  });
  afterAll(() => Promise.all(closers.map((close) => close())));
  beforeEach(() => {
    Object.assign(state, { providerIsUp: true, visitFails: false, expiredAt: null });
    state.now += 86_400_000;
    for (const list of [asked, visited, lines]) list.splice(0);
  });

  const deliver = (source: string, body: string, headers: Record<string, string> = {}): Promise<Answer> =>
    host.send({ path: `/webhooks/${source}`, body: Buffer.from(body), headers });
  const deliverSns = (message: object) =>
    deliver("sns", JSON.stringify(message), { "content-type": "text/plain; charset=UTF-8" });
  const keys = () => snapshotKeys(sharedRedisUrl(), prefix);

  const senders: readonly (readonly [string, () => Promise<Answer>])[] = [
    ["sns", () => deliverSns(sns())],
    ["paypal", () => send(paypal)],
    ["plaid", () => send(plaid)],
  ];
  async function send(make: () => { readonly body: string; readonly headers: Record<string, string> }) {
    const { body, headers } = make();
    return deliver("paypal-transmission-id" in headers ? "paypal" : "plaid", body, headers);
  }

  it.each(senders)("%s: accepts what is signed, and asks for the key once", async (_name, one) => {
    for (const answer of await Promise.all([one(), one(), one()])) expect(answer.status).toBe(202);
    expect((await one()).status).toBe(202);
    expect(asked).toHaveLength(1);
  });

  it.each(senders)(
    "%s: a key that can't be had is 503, stores nothing, and is asked for again later",
    async (_name, one) => {
      state.providerIsUp = false;
      const before = await keys();
      const answer = await one();
      expect(answer.status).toBe(503);
      expect(answer.headers.get("retry-after")).toBe("5");
      expect(JSON.parse(answer.text)).toMatchObject({ error: { code: "not_verified" } });
      expect(await keys()).toEqual(before);
      expect(lines.join()).toContain("no verdict: answered 503");
      expect(lines.join()).not.toMatch(/made-up-(client|plaid-secret|token)|MADE-UP-WEBHOOK-ID/);
      state.providerIsUp = true;
      state.now += 5_000;
      expect((await one()).status).toBe(202);
    },
  );

  it("refuses what another key has signed", async () => {
    const other = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const otherEc = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
    expect((await deliverSns(sns({}, other.privateKey))).status).toBe(401);
    expect((await send(() => plaid("made-up-kid", otherEc.privateKey))).status).toBe(401);
    const { body, headers } = paypal();
    expect((await deliver("paypal", `${body} `, headers)).status).toBe(401);
  });

  it("refuses what a key of Plaid has signed that Plaid has withdrawn", async () => {
    state.expiredAt = Math.floor(Date.now() / 1_000) - 1;
    expect((await send(plaid)).status).toBe(401);
  });

  for (const [what, certificateUrl] of [
    ["another host", "https://sns.evil.example/made-up.pem"],
    ["a host that only ends like it", "https://sns.eu-west-1.amazonaws.com.evil.example/x.pem"],
    ["a host that begins like it", "https://evil-sns.eu-west-1.amazonaws.com/x.pem"],
    ["a user in front", "https://sns.eu-west-1.amazonaws.com@evil.example/x.pem"],
    ["its name as the user", "https://sns.eu-west-1.amazonaws.com%40evil.example/x.pem"],
    ["a port", "https://sns.eu-west-1.amazonaws.com:8443/x.pem"],
    ["a backslash", "https://evil.example\\@sns.eu-west-1.amazonaws.com/x.pem"],
    ["a dot at the end", "https://sns.eu-west-1.amazonaws.com./x.pem"],
    ["an address", "https://169.254.169.254/x.pem"],
    ["the loopback", "https://127.0.0.1/x.pem"],
    ["http", "http://sns.eu-west-1.amazonaws.com/x.pem"],
    ["HTTPS in capitals", "HTTPS://sns.eu-west-1.amazonaws.com/x.pem"],
    ["a way up", "https://sns.eu-west-1.amazonaws.com/a/../x.pem"],
    ["a way up in code", "https://sns.eu-west-1.amazonaws.com/a/%2e%2e/x.pem"],
    ["a query", "https://sns.eu-west-1.amazonaws.com/?redirect=https://evil.example/x.pem"],
    ["a fragment", "https://sns.eu-west-1.amazonaws.com/#x.pem"],
    ["a line break", "https://sns.eu-west-1.amazonaws.com/\nx.pem"],
    ["somebody's bucket", "https://sns.s3.amazonaws.com/x.pem"],
    ["nothing", ""],
  ] as const) {
    it(`asks nobody for a certificate by ${what}`, async () => {
      expect((await deliverSns(sns({ SigningCertURL: certificateUrl }))).status).toBe(401);
      const asPaypal = certificateUrl.replaceAll("sns.eu-west-1.amazonaws.com", "api.paypal.com");
      if (!/[\n\\]/.test(asPaypal)) expect((await send(() => paypal(asPaypal))).status).toBe(401);
      expect(asked).toEqual([]);
    });
  }

  it("takes a host in capitals for what it is", async () => {
    const url = CERTIFICATE_URL.replace("sns.eu", "SNS.EU");
    expect((await deliverSns(sns({ SigningCertURL: url }))).status).toBe(202);
    expect((await deliverSns(sns())).status).toBe(202);
    expect(asked).toHaveLength(1);
  });

  describe("SNS wants a subscription confirmed", () => {
    it("calls its URL once the signature is right, and stores nothing", async () => {
      const before = await keys();
      const answer = await deliverSns(confirmation());
      expect({ status: answer.status, text: answer.text }).toEqual({ status: 200, text: "" });
      expect(visited).toEqual([SUBSCRIBE_URL]);
      expect(await keys()).toEqual(before);
      expect(lines.join()).not.toContain("made-up-token");
    });

    it("calls nothing for a wrong signature, another topic, or a changed URL", async () => {
      const wrong = [
        { ...confirmation(), Message: "changed" },
        { ...confirmation(), SubscribeURL: SUBSCRIBE_URL.replace("made-up-token", "other") },
        confirmation({ TopicArn: "arn:aws:sns:eu-west-1:210987654321:theirs" }),
        { ...confirmation(), Signature: "" },
        { ...sns(), Type: "SubscriptionConfirmation", Token: "a", SubscribeURL: SUBSCRIBE_URL },
      ];
      for (const message of wrong) expect((await deliverSns(message)).status).toBe(401);
      expect(visited).toEqual([]);
    });

    for (const url of [
      "https://evil.example/?Action=ConfirmSubscription",
      "https://sns.eu-west-1.amazonaws.com.evil.example/?Action=ConfirmSubscription",
      "https://sns.eu-west-1.amazonaws.com@evil.example/?Action=ConfirmSubscription",
      "https://sns.s3.amazonaws.com/?Action=ConfirmSubscription",
      "http://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription",
      "https://sns.eu-west-1.amazonaws.com:8443/?Action=ConfirmSubscription",
      "https://169.254.169.254/?Action=ConfirmSubscription",
      "not a URL",
    ]) {
      it(`never calls ${url}, even signed`, async () => {
        const answer = await deliverSns(confirmation({ SubscribeURL: url }));
        expect(answer.status).toBe(400);
        expect(visited).toEqual([]);
      });
    }

    it("answers 503 when the URL can't be called, so that SNS asks again; the log has no token", async () => {
      state.visitFails = true;
      const message = confirmation();
      const answer = await deliverSns(message);
      expect(answer.status).toBe(503);
      expect(answer.headers.get("retry-after")).toBe("5");
      expect(JSON.parse(answer.text)).toMatchObject({ error: { code: "not_verified" } });
      expect(lines.join()).toContain("handshake not finished");
      expect(lines.join()).not.toContain("made-up-token");
      state.visitFails = false;
      expect((await deliverSns(message)).status).toBe(200);
    });

    it("stores the end of a subscription as an event, and calls nothing", async () => {
      const end = confirmation({ Type: "UnsubscribeConfirmation" });
      expect((await deliverSns(end)).status).toBe(202);
      expect(visited).toEqual([]);
    });
  });
});

/** A certificate as SNS and PayPal publish one, for the key of these tests. */
async function selfSigned(): Promise<string> {
  const { path, remove } = await temporaryFolder("certificate");
  const key = join(path, "key.pem");
  const out = join(path, "certificate.pem");
  await writeFile(key, rsa.privateKey.export({ format: "pem", type: "pkcs8" }));
  const args = ["req", "-x509", "-key", key, "-out", out, "-days", "5000", "-subj", "/CN=made-up"];
  await promisify(execFile)("openssl", args);
  const certificate = await readFile(out, "utf8");
  await remove();
  return certificate;
}
