import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { startRedis } from "anvil-testkit";
import { describe, expect, it } from "vitest";
import { deployedHosts } from "../ingress/hosts.ts";
import { receiver, SECRET, sha256, signed, utf8 } from "./receiver.ts";

/** A3 of the known defects: sizes, encodings, methods, paths, unexpected JSON. H-22 and H-26 are in sockets.test.ts. */

const MIB = 1024 * 1024;
const code = (answer: { text: string }) =>
  (JSON.parse(answer.text) as { error: { code: string } }).error.code;

describe.each(deployedHosts)("%s", (_, start) => {
  it("H-20 takes bodies up to the limit with their bytes intact, and answers 413 quickly above it", async () => {
    // Of its own: what is stored here would weigh on every other test.
    const redis = await startRedis();
    const sources = {
      default: { provider: "hmac", secret: SECRET },
      large: { provider: "hmac", secret: SECRET, bodyLimit: 25 * MIB },
    } as const;
    // What is asked here is whether the bytes are intact; a busy machine may take a while for 25 MiB.
    const patient = { sources, redis: redis.url, deadlineMs: 15_000 };
    const ingress = await receiver(start, patient);
    const body = (bytes: number) => new Uint8Array(bytes).fill(0x61);
    const taken = [
      ...[101_000, 1_000_000, MIB - 1, MIB].map((bytes) => ["/webhooks", bytes] as const),
      ...[5_900_000, 25 * MIB].map((bytes) => ["/webhooks/large", bytes] as const),
    ];
    for (const [path, bytes] of taken) {
      const sent = body(bytes);
      const { bytes: kept } = await ingress.stored(await ingress.send(signed("hmac", sent, { path })));
      expect(sha256(kept)).toBe(sha256(sent));
    }
    const other = await receiver(start, { sources, redis: redis.url });
    for (const [path, bytes] of [
      ["/webhooks", MIB + 1],
      ["/webhooks", 5_900_000],
      ["/webhooks/large", 25 * MIB + 1],
    ] as const) {
      const delivery = signed("hmac", body(bytes), { path });
      const sentAt = performance.now();
      const answer = await other.refuses(delivery, 413);
      expect(performance.now() - sentAt).toBeLessThan(3_000);
      expect(code(answer)).toBe("body_too_large");
    }
    expect(other.lines.map(({ message, reason }) => [message, reason])).toEqual(
      Array(3).fill(["body not read", "too_large"]),
    );
    // No mark was left of what was refused.
    expect(await other.keys()).toEqual({});
  });

  it("H-21 answers 415 to a compressed body, and never inflates one", async () => {
    const ingress = await receiver(start);
    const plain = utf8('{"plain":true}');
    const zipped = gzipSync(plain);
    const bomb = gzipSync(new Uint8Array(50 * MIB));
    const gzip = { headers: { "content-encoding": "gzip" } };
    for (const delivery of [
      signed("hmac", zipped, gzip),
      { ...signed("hmac", plain, gzip), body: zipped },
      signed("hmac", plain, gzip),
      signed("hmac", bomb, gzip),
      signed("hmac", zipped, { headers: { "content-encoding": "GZIP" } }),
      signed("hmac", zipped, { headers: { "content-encoding": "br, gzip" } }),
    ]) {
      expect(code(await ingress.refuses(delivery, 415))).toBe("unsupported_encoding");
    }
    // Nothing says that this is compressed, so its bytes are an event like any other.
    const { bytes } = await ingress.stored(await ingress.send(signed("hmac", bomb)));
    expect(sha256(bytes)).toBe(sha256(bomb));
  });

  it("H-23 answers probes and challenges, stores none of them and echoes none", async () => {
    const ingress = await receiver(start);
    const probes = ["/webhooks", "/webhooks/github", "/webhooks?hub.challenge=made-up&hub.mode=subscribe"];
    for (const path of probes) {
      for (const method of ["HEAD", "GET", "PUT"]) {
        const answer = await ingress.refuses({ method, path }, 405);
        expect(answer.headers.get("allow")).toBe("POST");
        expect(answer.text).not.toContain("made-up");
      }
    }
    const challenge = utf8('{"type":"url_verification","challenge":"made-up-challenge"}');
    const unsigned = await ingress.refuses({ path: "/webhooks", body: challenge }, 401);
    expect(unsigned.text).not.toContain("made-up-challenge");
    // None of the providers that are built in defines this handshake: signed, it is an event like any other.
    const answer = await ingress.send(signed("hmac", challenge));
    await ingress.stored(answer);
    expect(answer.text).not.toContain("made-up-challenge");
  });

  it("H-24 answers OPTIONS without a single CORS header", async () => {
    const ingress = await receiver(start);
    const preflight = { origin: "https://example.com", "access-control-request-method": "POST" };
    for (const path of ["/webhooks", "/webhooks/github", "/healthz", "/", "/replay"]) {
      const answer = await ingress.send({ method: "OPTIONS", path, headers: preflight });
      expect(answer.status, path).toBeGreaterThanOrEqual(404);
      expect(answer.status, path).toBeLessThan(500);
      expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  });

  it("H-25 never answers a redirect: each spelling of a path is taken or 404", async () => {
    const ingress = await receiver(start);
    let n = 0;
    const to = (path: string) => signed("hmac", utf8(`{"n":${n++}}`), { path });
    for (const path of [
      "/webhooks",
      "/webhooks/",
      "/webhooks?x=1",
      "/webhooks/default",
      "/webhooks/default/",
    ]) {
      await ingress.stored(await ingress.send(to(path)));
    }
    for (const path of [
      ...["//webhooks", "/webhooks//", "/WEBHOOKS", "/Webhooks/default", "/webhooks/DEFAULT", "/hook"],
      ...[
        "/webhooks/nobody",
        "/webhooks/constructor",
        "/webhooks/__proto__",
        "/webhooks/%2e%2e",
        "/api/webhooks",
      ],
    ]) {
      await ingress.refuses(to(path), 404);
    }
  });

  it("H-25 refuses an unknown source without touching Redis", async () => {
    const ingress = await receiver(start, { secret: SECRET, redis: "redis://127.0.0.1:1" });
    const sentAt = performance.now();
    const answer = await ingress.send(signed("hmac", utf8("{}"), { path: "/webhooks/nobody" }));
    expect([answer.status, code(answer)]).toEqual([404, "unknown_source"]);
    expect(performance.now() - sentAt).toBeLessThan(500);
    expect(ingress.lines).toEqual([]);
  });

  it("H-27 answers signed JSON of unexpected kinds like any event, and never takes two events for one", async () => {
    const ingress = await receiver(start);
    const bodies = [
      "",
      "null",
      "[]",
      '"x"',
      "{}",
      '{"id":12345}',
      '{"id":12345,"other":1}',
      '{"id":null}',
      '{"id":null,"other":1}',
      '{"id":{}}',
      '{"id":{},"other":1}',
      '{"id":""}',
      '{"id":"","other":1}',
      `{"id":"${"x".repeat(10_000)}"}`,
      `{"id":"${"x".repeat(9_999)}y"}`,
      '{"id":"a\\u0000b"}',
      '{"id":"a\\u0000c"}',
      '{"id":"a\\nb"}',
      '{"id":"😀"}',
      '{"id":"\\ud800"}',
      '{"id":"\\ud801"}',
      '{"id":"evt_made_up',
      '{"id":"evt_made_up"',
      `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
      `${'{"id":'.repeat(100_000)}1${"}".repeat(100_000)}`,
      '{"__proto__":{"id":"evt_made_up_p"}}',
      '{"__proto__":{"id":"evt_made_up_p"},"other":1}',
      '{"id":"evt_made_up_one","id":"evt_made_up_two"}',
      '{"id":["evt_made_up_two"]}',
      '{"type":{},"id":"evt_made_up_type"}',
    ];
    const jobs = new Set<string>();
    for (const body of bodies) {
      const answer = await ingress.send(signed("stripe", utf8(body)));
      expect([answer.status, body.slice(0, 40)]).toEqual([202, body.slice(0, 40)]);
      jobs.add((JSON.parse(answer.text) as { jobId: string }).jobId);
    }
    expect(jobs.size).toBe(bodies.length);
    expect(ingress.lines.map(({ level, message }) => [level, message])).toEqual(
      bodies.map(() => ["info", "stored"]),
    );
  });
});

it("H-24 sets CORS nowhere: not on the function URL, and not in code", () => {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const folders = [
    "functions",
    "packages/deploy/src",
    "packages/anvil/src/ingress",
    "packages/anvil/src/node",
  ];
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".ts") && !name.includes(".test."))
      .map((name) => join(root, folder, name)),
  );
  const mentions = [...files, join(root, "sst.config.ts")].flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/hono\/cors|access-control-|\bcors\b[^\n,]*/gi)].map(
      ([text]) => text,
    ),
  );
  expect(mentions).toEqual(["cors: false"]);
});
