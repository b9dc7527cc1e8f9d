import { createHmac, randomUUID } from "node:crypto";
import { sharedRedisUrl, snapshotKeys, startRestFront, startTcpProxy, uniquePrefix } from "anvil-testkit";
import { Redis } from "ioredis";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Log } from "webhook-anvil";
import type { ServerOptions } from "webhook-anvil/ingress";
import { deployedHosts, type StartHost } from "./hosts.ts";

const SECRET = "made-up-secret-of-identities";
const STRIPE_SECRET = "whsec_made_up_for_the_tests";
const hex = (text: string, secret = SECRET) => createHmac("sha256", secret).update(text).digest("hex");
const bytes = (text: string) => new TextEncoder().encode(text);

/** An ingress of one source, and how many jobs it has made. */
async function started(start: StartHost, source: object, options: Partial<ServerOptions> = {}) {
  const prefix = uniquePrefix();
  const redis = new Redis(sharedRedisUrl());
  const lines: string[] = [];
  const keep = (fields: object, message: string) => void lines.push(JSON.stringify({ message, ...fields }));
  const log: Log = { info: keep, warn: keep, error: keep };
  const host = await start({
    ...(options.upstash ? {} : { redis: sharedRedisUrl() }),
    prefix,
    sources: { it: { secret: SECRET, ...source } },
    log,
    ...options,
  } as ServerOptions);
  onTestFinished(async () => {
    await host.close();
    redis.disconnect();
  });
  async function deliver(body: string, headers: Record<string, string>) {
    const sent = { "content-type": "application/json", ...headers };
    const { status, text } = await host.send({ path: "/webhooks/it", body: bytes(body), headers: sent });
    const { jobId, replayed, error } = JSON.parse(text) as {
      jobId?: string;
      replayed?: boolean;
      error?: { code: string };
    };
    return { status, jobId, replayed, code: error?.code };
  }
  const jobs = async () => (await redis.keys(`${prefix}:webhooks:wh_*`)).length;
  return { deliver, jobs, lines, redis, prefix };
}

const github = (body: string, id: string) => ({
  "x-hub-signature-256": `sha256=${hex(body)}`,
  "x-github-event": "push",
  "x-github-delivery": id,
});
const stripe = (body: string, atS: number) => ({
  "stripe-signature": `t=${atS},v1=${hex(`${atS}.${body}`, STRIPE_SECRET)}`,
});
const nowS = () => Math.floor(Date.now() / 1_000);

describe.each(deployedHosts.slice(0, 2))("what makes two deliveries one event %s", (_, start) => {
  it("the provider's id, by default: an id that isn't signed and was changed makes another event", async () => {
    const { deliver, jobs } = await started(start, { provider: "github" });
    const first = await deliver("{}", github("{}", "id-1"));
    expect(await deliver("{}", github("{}", "id-1"))).toMatchObject({ jobId: first.jobId, replayed: true });
    expect(await deliver("{}", github("{}", "id-2"))).toMatchObject({ status: 202, replayed: false });
    expect(await jobs()).toBe(2);
  });

  it('"body": then a captured body is the same event whatever its id', async () => {
    const { deliver, jobs } = await started(start, { provider: "github", identity: "body" });
    const first = await deliver("{}", github("{}", "id-1"));
    expect(await deliver("{}", github("{}", "id-2"))).toMatchObject({ jobId: first.jobId, replayed: true });
    expect(await deliver("[]", github("[]", "id-1"))).toMatchObject({ replayed: false });
    expect(await jobs()).toBe(2);
  });

  it('"body": a new signature over the same bytes is the same event; "signature+body": it is another', async () => {
    const body = `{"id":"evt_${randomUUID()}"}`;
    for (const [identity, expected] of [
      ["provider", 1],
      ["body", 1],
      ["signature+body", 2],
    ] as const) {
      const { deliver, jobs } = await started(start, { provider: "stripe", secret: STRIPE_SECRET, identity });
      const at = nowS();
      for (const time of [at, at - 1, at]) await deliver(body, stripe(body, time));
      expect(await jobs(), identity).toBe(expected);
    }
  });

  it("a function: is given the bytes, the headers, the id and the type, and can't change what is stored", async () => {
    const seen: unknown[] = [];
    const { deliver, jobs, redis, prefix } = await started(start, {
      provider: "github",
      identity({ bytes: given, header, eventId, type }: never) {
        const body = given as Uint8Array;
        seen.push([
          Buffer.from(body).toString(),
          (header as (name: string) => string)("x-github-event"),
          eventId,
          type,
        ]);
        body.fill(0x20);
        return "always-the-same";
      },
    });
    const first = await deliver('{"a":1}', github('{"a":1}', "id-1"));
    expect(await deliver('{"a":2}', github('{"a":2}', "id-2"))).toMatchObject({ jobId: first.jobId });
    expect(await jobs()).toBe(1);
    expect(seen).toEqual([
      ['{"a":1}', "push", "id-1", "push"],
      ['{"a":2}', "push", "id-2", "push"],
    ]);
    const data = await redis.hget(`${prefix}:webhooks:${first.jobId}`, "data");
    expect(JSON.parse(data as string)).toMatchObject({ body: '{"a":1}', eventId: "id-1" });
  });

  for (const [what, identity, logged] of [
    [
      "throws",
      () => {
        throw new Error("made-up-body");
      },
      "identity() threw",
    ],
    [
      "throws nothing",
      () => {
        throw undefined;
      },
      "identity() threw",
    ],
    ["gives a number", () => 1, "neither a text nor undefined"],
    ["gives an empty text", () => "", "neither a text nor undefined"],
    [
      "gives a promise that fails",
      async () => {
        throw new Error("made-up-body");
      },
      "neither a text nor undefined",
    ],
    ["gives nothing", () => undefined, undefined],
  ] as const) {
    it(`a function that ${what} loses no event: signature and body count then`, async () => {
      const { deliver, jobs, lines } = await started(start, { provider: "github", identity });
      const first = await deliver("{}", github("{}", "id-1"));
      expect(first.status).toBe(202);
      expect(await deliver("{}", github("{}", "id-2"))).toMatchObject({ jobId: first.jobId, replayed: true });
      expect(await deliver("[]", github("[]", "id-3"))).toMatchObject({ replayed: false });
      expect(await jobs()).toBe(2);
      if (logged) expect(lines.join()).toContain(logged);
      else expect(lines.join()).not.toContain("identity()");
      expect(lines.join()).not.toContain("made-up-body");
    });
  }

  it("Dropbox: nothing does, since equal bodies are two events", async () => {
    const { deliver, jobs } = await started(start, { provider: "dropbox" });
    const body = '{"list_folder":{"accounts":["dbid:1"]}}';
    for (let n = 0; n < 3; n++) {
      const answer = await deliver(body, { "x-dropbox-signature": hex(body) });
      expect(answer).toMatchObject({ status: 202, replayed: false });
    }
    expect(await jobs()).toBe(3);
  });

  it("Dropbox: a delivery is one event all the same, when Redis's answer was lost", async () => {
    const proxy = await startTcpProxy(Number(new URL(sharedRedisUrl()).port));
    const { deliver, jobs } = await started(
      start,
      { provider: "dropbox" },
      { redis: `redis://127.0.0.1:${proxy.port}` },
    );
    const body = '{"list_folder":{"accounts":["dbid:2"]}}';
    const send = () => deliver(body, { "x-dropbox-signature": hex(body) });
    await send();
    proxy.swallowReplies();
    const answer = send();
    await expect.poll(jobs).toBe(2);
    proxy.heal();
    proxy.cut();
    expect(await answer).toMatchObject({ status: 202, replayed: false });
    expect(await jobs()).toBe(2);
  });
});

/** Mailgun signs a time and a token, nothing of the event. */
function mailgun(event: object, token: string, timestamp = String(nowS())): string {
  const signature = { timestamp, token, signature: hex(timestamp + token) };
  return JSON.stringify({ signature, "event-data": event });
}

for (const rest of [false, true]) {
  describe(`a provider that doesn't sign its events, over ${rest ? "REST" : "TCP"}`, () => {
    const open = async (more: object = {}) => {
      const upstash = rest ? { upstash: await startRestFront(sharedRedisUrl()) } : {};
      const [, start] = deployedHosts[0] as (typeof deployedHosts)[number];
      return started(start, { provider: "mailgun", ...more }, upstash);
    };

    it("has a captured delivery refused that holds another event, which leaves no trace", async () => {
      const { deliver, jobs, lines, prefix } = await open();
      const captured = mailgun({ id: "made-up-1", event: "delivered" }, "token-1");
      const first = await deliver(captured, {});
      expect(first.status).toBe(202);
      const before = await snapshotKeys(sharedRedisUrl(), prefix);
      const { signature } = JSON.parse(captured) as { signature: object };
      const forged = JSON.stringify({ signature, "event-data": { id: "forged", event: "complained" } });
      expect(await deliver(forged, {})).toMatchObject({ status: 401, code: "invalid_signature" });
      expect(lines.join()).toContain('"reason":"token_reused"');
      expect(await snapshotKeys(sharedRedisUrl(), prefix)).toEqual(before);
      // The same event, even with other words in it, is the one that is there.
      expect(await deliver(captured, {})).toMatchObject({ jobId: first.jobId, replayed: true });
      const changed = captured.replace("delivered", "complained");
      expect(await deliver(changed, {})).toMatchObject({ jobId: first.jobId, replayed: true });
      expect(await jobs()).toBe(1);
    });

    it("takes an event again that is signed anew, and other events with tokens of their own", async () => {
      const { deliver, jobs } = await open();
      const event = { id: "made-up-2", event: "opened" };
      const first = await deliver(mailgun(event, "token-2"), {});
      expect(await deliver(mailgun(event, "token-3"), {})).toMatchObject({
        jobId: first.jobId,
        replayed: true,
      });
      expect(await deliver(mailgun({ ...event, id: "made-up-3" }, "token-4"), {})).toMatchObject({
        status: 202,
      });
      expect(await jobs()).toBe(2);
    });

    it("lets one of many events in that come with one token at once", async () => {
      const { deliver, jobs } = await open();
      const at = String(nowS());
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          deliver(mailgun({ id: `made-up-${n}`, event: "x" }, "token-5", at), {}),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([202, ...Array<number>(19).fill(401)]);
      expect(await jobs()).toBe(1);
    });

    it("with limits: what a limit has refused is taken with its token when it comes again", async () => {
      const { deliver, redis, prefix } = await open({ limits: { waiting: 1 } });
      const first = await deliver(mailgun({ id: "made-up-6", event: "x" }, "token-6"), {});
      const second = mailgun({ id: "made-up-7", event: "x" }, "token-7");
      expect(await deliver(second, {})).toMatchObject({ status: 503, code: "queue_full" });
      await redis.hset(`${prefix}:webhooks:${first.jobId}`, "finishedOn", 1);
      expect(await deliver(second, {})).toMatchObject({ status: 202, replayed: false });
    });
  });
}
