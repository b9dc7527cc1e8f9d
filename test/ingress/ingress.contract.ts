import { createHmac } from "node:crypto";
import { sharedRedisUrl, snapshotKeys, uniquePrefix } from "anvil-testkit";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decodeBody, type Envelope, silentLog } from "webhook-anvil";
import { providers, signDelivery } from "webhook-anvil/signatures";
import type { Answer, Host, StartHost } from "./hosts.ts";

const SECRET = "made-up-secret-of-the-tests";
const STRIPE_SECRET = "whsec_made_up_for_the_tests";
const text = (value: string): Uint8Array => new TextEncoder().encode(value);

/** What the ingress promises, wherever it runs. Every host passes the same suite. */
export function ingressContract(name: string, start: StartHost): void {
  describe(name, () => {
    const prefix = uniquePrefix();
    let host: Host;
    let redis: Redis;

    beforeAll(async () => {
      redis = new Redis(sharedRedisUrl());
      host = await start({
        redis: sharedRedisUrl(),
        prefix,
        secret: [SECRET, "made-up-secret-before"],
        sources: {
          stripe: { provider: "stripe", secret: STRIPE_SECRET },
          github: { provider: "github", secret: SECRET },
          partner: { provider: "standard-webhooks", secret: "whsec_bWFkZS11cC1zZWNyZXQ=" },
          small: { provider: "hmac", secret: SECRET, bodyLimit: 1_000 },
        },
        log: silentLog,
      });
    });
    afterAll(async () => {
      await host.close();
      redis.disconnect();
    });

    const signature = (body: Uint8Array, secret = SECRET): string =>
      createHmac("sha256", secret).update(body).digest("hex");
    const deliver = (body: Uint8Array, headers: Record<string, string> = {}, path = "/webhooks") =>
      host.send({ path, body, headers: { "x-signature": `sha256=${signature(body)}`, ...headers } });
    const keys = () => snapshotKeys(sharedRedisUrl(), prefix);
    async function stored(answer: Answer): Promise<Envelope> {
      const { jobId } = JSON.parse(answer.text) as { jobId: string };
      return JSON.parse((await redis.hget(`${prefix}:webhooks:${jobId}`, "data")) as string) as Envelope;
    }
    const code = (answer: Answer) => (JSON.parse(answer.text) as { error: { code: string } }).error.code;

    it("answers 202 and a job id, and names the same job when the event comes again", async () => {
      const body = text(`{"type":"order.paid","n":"${name}"}`);
      const first = await deliver(body);
      expect(first.status).toBe(202);
      expect(first.headers.get("content-type")).toContain("application/json");
      const { jobId, replayed } = JSON.parse(first.text) as { jobId: string; replayed: boolean };
      expect(jobId).toMatch(/^wh_[0-9a-f]{32}$/);
      expect(replayed).toBe(false);
      for (let n = 0; n < 4; n++) {
        const again = await deliver(body);
        expect(again.status).toBe(202);
        expect(JSON.parse(again.text)).toEqual({ jobId, replayed: true });
        expect(again.headers.get("x-anvil-dead-letter")).toBeNull();
      }
      expect(await stored(first)).toMatchObject({ v: 1, source: "default", type: "order.paid" });
    });

    it("stores nothing for a body that was changed, and says no more than that", async () => {
      const body = text('{"amount":1}');
      const before = await keys();
      const answer = await deliver(text('{"amount":2}'), { "x-signature": `sha256=${signature(body)}` });
      expect(answer.status).toBe(401);
      expect(JSON.parse(answer.text)).toEqual({
        error: { code: "invalid_signature", message: expect.any(String) as string },
      });
      expect(await keys()).toEqual(before);
    });

    for (const [what, header] of [
      ["no signature", undefined],
      ["an empty one", ""],
      ["one of another length", "sha256=00"],
      ["one that is too long", `sha256=${"0".repeat(10_000)}`],
      ["an odd number of digits", "sha256=000"],
      ["sha1", "sha1=2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"],
      ["the empty secret's", `sha256=${createHmac("sha256", "").update('{"a":1}').digest("hex")}`],
      [
        "the secret undefined's",
        `sha256=${createHmac("sha256", "undefined").update('{"a":1}').digest("hex")}`,
      ],
      [
        "two signatures, one good",
        `sha256=${createHmac("sha256", SECRET).update('{"a":1}').digest("hex")}, sha256=00`,
      ],
    ] as const) {
      it(`answers 401 to ${what}, and the next good delivery 202`, async () => {
        const before = await keys();
        const body = text('{"a":1}');
        const answer = await host.send({
          path: "/webhooks",
          body,
          headers: header === undefined ? {} : { "x-signature": header },
        });
        expect(answer.status).toBe(401);
        expect(await keys()).toEqual(before);
        expect((await deliver(text(`{"after":"${what}, ${name}"}`))).status).toBe(202);
      });
    }

    it("takes the digest bare, in capitals, and by the secret before", async () => {
      for (const [n, sign] of [
        (body: Uint8Array) => signature(body),
        (body: Uint8Array) => `SHA256=${signature(body).toUpperCase()}`,
        (body: Uint8Array) => `sha256=${signature(body, "made-up-secret-before")}`,
      ].entries()) {
        const body = text(`{"form":${n},"host":"${name}"}`);
        expect((await deliver(body, { "x-signature": sign(body) })).status, `form ${n}`).toBe(202);
      }
    });

    for (const [what, body] of [
      ["bytes that are no text", Uint8Array.of(0xff, 0xfe, 0x00, 0x80)],
      ["a byte order mark", Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d)],
      ["CRLF at the end", text('{"a":1}\r\n')],
      ["white space around it", text("\n {} \n ")],
      ["U+2028 as it is", text('{"a":"\u2028"}')],
      ["an emoji", text('{"a":"😀 é \u0301 ‮"}')],
      ["escapes spelt in two ways", text('{"a":"\\u001b\\u001B\\/\\ud800"}')],
      ["NUL", Uint8Array.of(0x7b, 0x00, 0x7d)],
      ["a form", text("payload=%7B%22action%22%3A%22opened%22%7D&a=+%20~*%27%c3%a9%C3%A9")],
      ["a megabyte", new Uint8Array(1024 * 1024).fill(0x61)],
    ] as const) {
      it(`keeps the body byte for byte: ${what}`, async () => {
        const unlike = new Uint8Array([...body.subarray(0, body.length - name.length), ...text(name)]);
        for (const bytes of [body, body.length > 1000 ? unlike : body]) {
          const answer = await deliver(bytes, {
            "content-type":
              what === "a form"
                ? "application/x-www-form-urlencoded"
                : "application/json; charset=iso-8859-1",
          });
          expect(answer.status).toBe(202);
          const envelope = await stored(answer);
          expect(Buffer.from(decodeBody(envelope)).equals(bytes)).toBe(true);
        }
      });
    }

    it("takes an empty body that is signed", async () => {
      const answer = await deliver(new Uint8Array());
      expect(answer.status).toBe(202);
      expect((await stored(answer)).body).toBe("");
    });

    it("makes one job of a Stripe event however often it is signed anew", async () => {
      const stripe = providers.get("stripe");
      if (!stripe) throw new Error("no stripe");
      const body = text(`{"id":"evt_made_up_${name.length}","type":"invoice.paid"}`);
      const answers: { jobId: string; replayed: boolean }[] = [];
      for (const ageMs of [0, 60_000, 120_000]) {
        const headers = signDelivery(stripe, body, STRIPE_SECRET, { nowMs: Date.now() - ageMs });
        const answer = await host.send({ path: "/webhooks/stripe", body, headers });
        expect(answer.status).toBe(202);
        answers.push(JSON.parse(answer.text));
      }
      expect(new Set(answers.map((answer) => answer.jobId)).size).toBe(1);
      expect(answers.map((answer) => answer.replayed)).toEqual([false, true, true]);
      const old = signDelivery(stripe, body, STRIPE_SECRET, { nowMs: Date.now() - 400_000 });
      expect((await host.send({ path: "/webhooks/stripe", body, headers: old })).status).toBe(401);
    });

    it("tells GitHub events by their delivery id, and keeps no header that wasn't asked for", async () => {
      const body = text('{"action":"opened"}');
      const github = {
        "x-hub-signature-256": `sha256=${signature(body)}`,
        "x-github-event": "issues",
        authorization: "Bearer made-up",
        cookie: "a=b",
      };
      const send = (delivery: string) =>
        host.send({ path: "/webhooks/github", body, headers: { ...github, "X-GitHub-Delivery": delivery } });
      const first = await send(`one-${name}`);
      expect(JSON.parse((await send(`two-${name}`)).text)).toMatchObject({ replayed: false });
      expect(JSON.parse((await send(`one-${name}`)).text)).toMatchObject({ replayed: true });
      const envelope = await stored(first);
      expect(envelope.type).toBe("issues.opened");
      expect(Object.keys(envelope.headers).sort()).not.toContain("authorization");
      expect(Object.keys(envelope.headers)).toEqual(
        expect.arrayContaining(["x-github-event", "x-github-delivery"]),
      );
      expect(JSON.stringify(envelope)).not.toContain("made-up");
    });

    it("never gives the same event of two sources one job", async () => {
      const body = text(`{"two":"sources ${name}"}`);
      const one = JSON.parse((await deliver(body)).text) as { jobId: string };
      const two = JSON.parse((await deliver(body, {}, "/webhooks/small")).text) as { jobId: string };
      expect(two).toMatchObject({ replayed: false });
      expect(two.jobId).not.toBe(one.jobId);
    });

    it("answers 413 above the limit and 202 at it, and leaves no mark of what was too large", async () => {
      const at = text(`${name}${"x".repeat(1_000 - name.length)}`);
      const above = text(`${name}${"x".repeat(1_001 - name.length)}`);
      const before = await keys();
      const refused = await deliver(above, {}, "/webhooks/small");
      expect([refused.status, code(refused)]).toEqual([413, "body_too_large"]);
      expect(await keys()).toEqual(before);
      expect((await deliver(at, {}, "/webhooks/small")).status).toBe(202);
    });

    it("refuses a compressed body by name", async () => {
      const answer = await deliver(text("{}"), { "content-encoding": "gzip" });
      expect([answer.status, code(answer)]).toEqual([415, "unsupported_encoding"]);
    });

    it("answers 404 to an unknown source and path, 405 with Allow to other methods, never a redirect", async () => {
      const before = await keys();
      for (const path of [
        "/webhooks/nobody",
        "/webhooks/constructor",
        "/webhooks/__proto__",
        "/webhooks/small/x",
      ]) {
        expect((await deliver(text("{}"), {}, path)).status, path).toBe(404);
      }
      for (const path of ["/", "//webhooks", "/WEBHOOKS", "/hook"]) {
        expect((await deliver(text("{}"), {}, path)).status, path).toBe(404);
      }
      for (const method of ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"]) {
        const answer = await host.send({ method, path: "/webhooks?hub.challenge=x" });
        expect([method, answer.status, answer.headers.get("allow")]).toEqual([method, 405, "POST"]);
        expect(answer.headers.get("access-control-allow-origin")).toBeNull();
      }
      expect((await host.send({ method: "GET", path: "/webhooks/nobody" })).status).toBe(404);
      expect(await keys()).toEqual(before);
      expect((await deliver(text(`{"slash":"${name}"}`), {}, "/webhooks/")).status).toBe(202);
      expect((await deliver(text(`{"query":"${name}"}`), {}, "/webhooks?a=1")).status).toBe(202);
    });

    it("says that it lives and that it is ready", async () => {
      expect((await host.send({ method: "GET", path: "/healthz" })).status).toBe(200);
      expect((await host.send({ method: "GET", path: "/readyz" })).status).toBe(200);
    });

    it("takes header names in any case", async () => {
      for (const [n, header] of ["x-signature", "X-Signature", "X-SIGNATURE"].entries()) {
        const body = text(`{"case":${n},"host":"${name}"}`);
        const answer = await host.send({ path: "/webhooks", body, headers: { [header]: signature(body) } });
        expect(answer.status, header).toBe(202);
      }
    });

    it("answers 4xx or 202, never 5xx, to signed JSON of unexpected kinds, and keeps different events apart", async () => {
      const stripe = providers.get("stripe");
      if (!stripe) throw new Error("no stripe");
      const ids = new Set<string>();
      const bodies = [
        "",
        "null",
        "[]",
        '"x"',
        "{}",
        '{"id":12345}',
        '{"id":null}',
        '{"id":{}}',
        '{"id":""}',
        `{"id":"${"x".repeat(10_000)}"}`,
        '{"id":"a\\u0000b"}',
        '{"id":"a\\nb"}',
        '{"id":"😀"}',
        '{"id":"evt_1"',
        `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
        '{"__proto__":{"id":"evt_2"}}',
        '{"id":"evt_3","id":"evt_4"}',
      ];
      for (const body of bodies) {
        const bytes = text(body);
        const headers = signDelivery(stripe, bytes, STRIPE_SECRET, { nowMs: Date.now() });
        const answer = await host.send({ path: "/webhooks/stripe", body: bytes, headers });
        expect(answer.status, body.slice(0, 40)).toBe(202);
        ids.add((JSON.parse(answer.text) as { jobId: string }).jobId);
      }
      expect(ids.size).toBe(bodies.length);
    });
  });
}
