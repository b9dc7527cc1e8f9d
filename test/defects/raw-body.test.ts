import { sharedRedisUrl, uniquePrefix, waitUntil } from "anvil-testkit";
import type { Context } from "aws-lambda";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { consoleLog, silentLog, type WebhookEvent } from "webhook-anvil";
import { createServer } from "webhook-anvil/ingress";
import { createWorker } from "webhook-anvil/worker";
import { functionUrlHandler } from "../../functions/function-url.ts";
import { functionUrlEvent } from "../ingress/function-url-event.ts";
import { deployedHosts } from "../ingress/hosts.ts";
import { receiver, SECRET, sha256, signed, utf8 } from "./receiver.ts";

/** A1 of the known defects: what a receiver must verify and keep are the bytes that were sent. */

const flipped = (body: Uint8Array): Uint8Array => {
  const copy = Uint8Array.from(body);
  const at = Math.floor(copy.length / 2);
  copy[at] = (copy[at] as number) ^ 1;
  return copy;
};

/** Runs a worker on a receiver's queue until it has had so many events. */
async function handled(prefix: string, count: number): Promise<WebhookEvent[]> {
  const events: WebhookEvent[] = [];
  const worker = createWorker((event) => void events.push(event), {
    redis: sharedRedisUrl(),
    prefix,
    log: silentLog,
  });
  onTestFinished(() => worker.close());
  await worker.start();
  await waitUntil(() => events.length >= count, { what: `${count} events are handled` });
  return events;
}

it("H-01 one delivery means the same as plain HTTP, as a text event and as a base64 event", async () => {
  const body = utf8('{\n  "type": "invoice.paid",\n  "object": "event",\n  "id": "evt_made_up_h01"\n}');
  const other = utf8('{\n  "b": 1,\n  "a": "no id in it"\n}');
  const prefix = uniquePrefix();
  const kept: { jobId: string; key: string; sha256: string }[][] = [];
  for (const [, start] of deployedHosts) {
    const ingress = await receiver(start, { prefix });
    const deliveries = [signed("stripe", body), signed("hmac", other)];
    const stored = [];
    for (const delivery of deliveries) {
      const { jobId, envelope, bytes } = await ingress.stored(await ingress.send(delivery));
      stored.push({ jobId, key: envelope.key, sha256: sha256(bytes) });
    }
    kept.push(stored);
    for (const delivery of deliveries) {
      await ingress.refuses({ ...delivery, body: flipped(delivery.body) }, 401);
    }
  }
  expect(kept[0]?.map((stored) => stored.sha256)).toEqual([sha256(body), sha256(other)]);
  expect(kept).toEqual([kept[0], kept[0], kept[0]]);
});

describe.each(deployedHosts)("%s", (_, start) => {
  it("H-02 takes a form, and refuses an undecodable one with 4xx", async () => {
    const ingress = await receiver(start);
    const body = utf8("payload=%7B%22action%22%3A%22opened%22%7D");
    const github = signed("github", body, {
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        "x-github-event": "issues",
        "x-github-delivery": "made-up-h02",
      },
    });
    const { envelope, bytes } = await ingress.stored(await ingress.send(github));
    expect(sha256(bytes)).toBe(sha256(body));
    expect(envelope.type).toBe("issues.opened");
    await ingress.refuses({ ...github, body: utf8("***") }, 401);
  });

  it("H-03 keeps bytes above 0x7F as they are", async () => {
    const ingress = await receiver(start);
    for (const body of [utf8('{"a":"é😀"}'), Uint8Array.of(...utf8('{"a":"é😀'), 0x80, ...utf8('"}'))]) {
      const { bytes } = await ingress.stored(await ingress.send(signed("hmac", body)));
      expect(sha256(bytes)).toBe(sha256(body));
    }
  });

  it("H-04 verifies the bytes, whatever charset the content type names", async () => {
    const ingress = await receiver(start);
    for (const text of ["😀", "e\u0301 é", "\u202eabc שלום"]) {
      const jobs = new Set<string>();
      for (const charset of ["", "; charset=utf-8", "; charset=iso-8859-1"]) {
        const body = utf8(JSON.stringify({ text }));
        const delivery = signed("hmac", body, { headers: { "content-type": `application/json${charset}` } });
        const { bytes, jobId } = await ingress.stored(await ingress.send(delivery));
        expect(sha256(bytes)).toBe(sha256(body));
        jobs.add(jobId);
      }
      expect(jobs.size).toBe(1);
    }
  });

  it("H-05 tells bodies apart that are equal as JSON", async () => {
    const ingress = await receiver(start);
    for (const [one, two] of [
      ['{"a":"\\u001b"}', '{"a":"\\u001B"}'],
      ['{"a":"\\/"}', '{"a":"/"}'],
      ['{"a": 1}', '{"a":  1}'],
      ['{"a":1.0}', '{"a":1}'],
    ].map((pair) => pair.map((text) => signed("hmac", utf8(text))) as [Signed, Signed])) {
      const stored = [await ingress.send(one), await ingress.send(two)];
      const [first, second] = await Promise.all(stored.map((answer) => ingress.stored(answer)));
      expect(first?.jobId).not.toBe(second?.jobId);
      await ingress.refuses({ ...one, body: two.body }, 401);
      await ingress.refuses({ ...two, body: one.body }, 401);
    }
  });

  it("H-06 hands U+2028, its escape and a lone surrogate on as they came, each on one line of log", async () => {
    const logged = vi.spyOn(console, "log").mockImplementation(() => {});
    onTestFinished(() => logged.mockRestore());
    const ingress = await receiver(start, { secret: SECRET, log: consoleLog });
    const texts = ["a\u2028b\u2029c", "a\\u2028b", "a\\u0026b", "a\\ud800b"].map(
      (type) => `{"type":"order.${type}","id":1}`,
    );
    for (const text of texts) await ingress.stored(await ingress.send(signed("hmac", utf8(text))));
    const events = await handled(ingress.prefix, texts.length);
    expect(events.map((event) => event.text).sort()).toEqual([...texts].sort());
    expect(events.map((event) => sha256(event.bytes)).sort()).toEqual(
      texts.map((text) => sha256(utf8(text))).sort(),
    );
    const lines = logged.mock.calls.map(([line]) => String(line)).filter((line) => line.includes("stored"));
    expect(lines).toHaveLength(texts.length);
    for (const line of lines) {
      expect(line).not.toMatch(/[\n\r\u2028\u2029]/);
      expect((JSON.parse(line) as { type: string }).type).toMatch(/^order\.a/);
    }
  });

  it("H-07 verifies a form delivery of GitHub over the raw form, and hands its payload on", async () => {
    const ingress = await receiver(start);
    const payload = { action: "opened", title: "a + b ~ * ' é É 100%" };
    const encoded = encodeURIComponent(JSON.stringify(payload)).replaceAll("%C3%A9", "%c3%a9");
    for (const [n, form] of [
      encoded,
      encoded.replaceAll("%20", "+"),
      encoded.replaceAll("~", "%7E"),
    ].entries()) {
      const delivery = signed("github", utf8(`payload=${form}`), {
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          "x-github-event": "issues",
          "x-github-delivery": `made-up-h07-${n}`,
        },
      });
      const { envelope } = await ingress.stored(await ingress.send(delivery));
      expect(envelope.type).toBe("issues.opened");
    }
    for (const event of await handled(ingress.prefix, 3)) {
      expect(event.json()).toEqual(payload);
      expect(event.text).toMatch(/^payload=%7B/);
    }
  });

  it("H-08 trims nothing off a body", async () => {
    const ingress = await receiver(start);
    for (const text of ['{"a":1}\r\n', '{"a":2}\n', '{"a":3}  ', '\n{"a":4}']) {
      const delivery = signed("hmac", utf8(text));
      const { bytes } = await ingress.stored(await ingress.send(delivery));
      expect(Buffer.from(bytes).toString()).toBe(text);
      await ingress.refuses({ ...delivery, body: utf8(text.trim()) }, 401);
    }
  });
});

type Signed = ReturnType<typeof signed>;

it("H-02 answers 400 to a body that is said to be base64 and isn't", async () => {
  const app = createServer({ secret: SECRET, redis: "redis://127.0.0.1:1", log: silentLog });
  onTestFinished(() => app.close());
  const { headers } = signed("hmac", utf8("***"));
  const event = functionUrlEvent({
    ...{ method: "POST", path: "/webhooks", body: "***", isBase64Encoded: true },
    headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
  });
  const answer = await functionUrlHandler(app)(event, { awsRequestId: "made-up" } as Context);
  expect(answer.statusCode).toBe(400);
});
