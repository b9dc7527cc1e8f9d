import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { sharedRedisUrl, startRedis, startRestFront, uniquePrefix, waitUntil } from "anvil-testkit";
import { expect, onTestFinished, test } from "vitest";
import { providers, signDelivery } from "webhook-anvil/signatures";
import { type AnvilProcess, startAnvil } from "../fixtures/anvil-process.ts";
import { runHere } from "../fixtures/run-here.ts";

const SECRET = "a-secret-of-the-tests";

function startIngress(env: Record<string, string> = {}, args: string[] = []): AnvilProcess {
  return startAnvil(["ingress", ...args], {
    env: {
      REDIS_URL: sharedRedisUrl(),
      ANVIL_PREFIX: uniquePrefix(),
      PORT: "0",
      HOST: "127.0.0.1",
      WEBHOOK_SECRET: SECRET,
      ...env,
    },
  });
}

async function urlOf(ingress: AnvilProcess): Promise<string> {
  return (await ingress.line(/listening on (http:\/\/[\d.:]+)/))[1] as string;
}

function signed(body: string): Record<string, string> {
  const hmac = providers.get("hmac");
  if (!hmac) throw new Error("no provider hmac");
  return signDelivery(hmac, Buffer.from(body), SECRET, { nowMs: Date.now() });
}

async function deliver(url: string, body = '{"type":"order.created"}'): Promise<number> {
  const answer = await fetch(`${url}/webhooks`, { method: "POST", headers: signed(body), body });
  await answer.arrayBuffer();
  return answer.status;
}

test("says where it listens and which secrets it has, and never the secrets", async () => {
  const ingress = startIngress({ WEBHOOK_SECRET_PREVIOUS: "the-secret-before-it" });
  const url = await urlOf(ingress);
  expect(await deliver(url)).toBe(202);
  const first = JSON.parse(ingress.stdout().split("\n")[0] as string);
  expect(first).toMatchObject({
    level: "info",
    sources: [{ source: "default", url: `${url}/webhooks`, provider: "hmac" }],
  });
  const fingerprints = first.sources[0].secrets as string[];
  expect(fingerprints).toHaveLength(2);
  expect(new Set(fingerprints).size).toBe(2);
  for (const print of fingerprints) expect(print).toMatch(/^[0-9a-f]{8}$/);

  ingress.signal("SIGTERM");
  expect(await ingress.exited).toEqual({ code: 0, signal: null });
  expect(ingress.stdout()).not.toContain(SECRET);
  expect(ingress.stdout()).not.toContain("the-secret-before-it");
  expect(ingress.stderr()).toBe("");
});

test("Redis isn't there at the start: 503 at first, 202 by itself once it is", async () => {
  const redis = await startRedis();
  await redis.kill();
  const ingress = startIngress({ REDIS_URL: redis.url });
  const url = await urlOf(ingress);
  expect(await deliver(url)).toBe(503);
  await redis.restart();
  await waitUntil(async () => (await deliver(url)) === 202, { what: "the ingress answers 202" });
  ingress.signal("SIGINT");
  expect(await ingress.exited).toEqual({ code: 0, signal: null });
});

test("stores over Upstash's REST where its variables are set, and prints no token", async () => {
  const front = await startRestFront(sharedRedisUrl());
  const ingress = startIngress({
    REDIS_URL: "redis://127.0.0.1:1",
    ANVIL_PREFIX: uniquePrefix(),
    UPSTASH_REDIS_REST_URL: front.url,
    UPSTASH_REDIS_REST_TOKEN: front.token,
  });
  expect(await deliver(await urlOf(ingress))).toBe(202);
  ingress.signal("SIGTERM");
  expect(await ingress.exited).toEqual({ code: 0, signal: null });
  expect(ingress.stdout()).toContain("(REST)");
  expect(ingress.stdout() + ingress.stderr()).not.toContain(front.token);
});

test("names both of Upstash's variables when one is missing", async () => {
  const ingress = startIngress({ UPSTASH_REDIS_REST_URL: "https://made-up.upstash.example" });
  expect((await ingress.exited).code).toBe(1);
  expect(ingress.stderr()).toContain("UPSTASH_REDIS_REST_TOKEN");
});

test("asked to stop, it takes no more connections and answers the request under way", async () => {
  const ingress = startIngress();
  const url = await urlOf(ingress);
  const port = Number(new URL(url).port);
  const body = '{"type":"order.created","slow":true}';
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let answer = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    answer += text;
  });
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const headers = Object.entries({
    host: "x",
    "content-length": body.length,
    expect: "100-continue",
    ...signed(body),
  });
  socket.write(
    `POST /webhooks HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}`).join("\r\n")}\r\n\r\n`,
  );
  // The server has the request in hand when it asks for its body.
  await waitUntil(() => answer.includes("100 Continue"), { what: "100 Continue" });

  ingress.signal("SIGTERM");
  await waitUntil(
    () =>
      fetch(`${url}/healthz`).then(
        () => false,
        () => true,
      ),
    { what: "new connections are refused" },
  );
  socket.write(body);
  await ended;
  expect(answer).toContain("HTTP/1.1 202 ");
  expect(await ingress.exited).toEqual({ code: 0, signal: null });
});

test("a request that never ends doesn't hold it longer than --drain", async () => {
  const ingress = startIngress({}, ["--drain", "200ms"]);
  const socket = connect(Number(new URL(await urlOf(ingress)).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  await new Promise<void>((resolve) => socket.write("POST /webhooks HTTP/1.1\r\n", () => resolve()));
  ingress.signal("SIGTERM");
  expect(await ingress.exited).toEqual({ code: 0, signal: null });
});

test("a second signal ends it at once, one that comes with the first doesn't", async () => {
  const ingress = startIngress({}, ["--drain", "1h"]);
  const socket = connect(Number(new URL(await urlOf(ingress)).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  await new Promise<void>((resolve) => socket.write("POST /webhooks HTTP/1.1\r\n", () => resolve()));
  ingress.signal("SIGINT");
  await ingress.line(/stopping/);
  // npm passes Ctrl-C on to a process that has had it already.
  ingress.signal("SIGINT");
  // The one wait that is no condition: a second key comes later than half a second after the first.
  await delay(700);
  ingress.signal("SIGINT");
  expect(await ingress.exited).toEqual({ code: 1, signal: null });
  expect(ingress.stderr()).toMatch(/^anvil: stopped at once on a second SIGINT[^\n]*\n$/);
});

test("a port that is taken is named, with what to do", async () => {
  const ingress = startIngress();
  const { port } = new URL(await urlOf(ingress));
  const { code, stderr } = await runHere(["ingress"], {
    env: { REDIS_URL: sharedRedisUrl(), PORT: port, HOST: "127.0.0.1", WEBHOOK_SECRET: SECRET },
  });
  expect(code).toBe(1);
  expect(stderr).toBe(
    `anvil: port ${port} of 127.0.0.1 is taken; set PORT to another one, or to 0 for any that is free\n`,
  );
});

test("refuses to start where Redis can't do what the durability promises", async () => {
  const redis = await startRedis();
  const ingress = startIngress({ REDIS_URL: redis.url, ANVIL_DURABILITY: "disk" });
  expect(await ingress.exited).toEqual({ code: 1, signal: null });
  expect(ingress.stderr()).toMatch(/durability "disk" asks the Redis at .*(WAITAOF|appendonly is off)/);
  expect(ingress.stdout()).not.toContain("listening");
});
