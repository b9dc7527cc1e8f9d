import { createHmac, randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startRedis, startRestFront, temporaryFolder, waitUntil } from "anvil-testkit";
import { Redis } from "ioredis";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { consoleLog } from "webhook-anvil";
import { createServer } from "webhook-anvil/ingress";
import { handler as ingressFunction } from "../../functions/ingress.ts";
import { handler as pulseFunction } from "../../functions/pulse.ts";
import { handler as replayFunction } from "../../functions/replay.ts";
import { type AnvilProcess, anvil, startAnvil } from "../../packages/cli/src/fixtures/anvil-process.ts";
import { runHere } from "../../packages/cli/src/fixtures/run-here.ts";
import { functionUrlEvent } from "../ingress/function-url-event.ts";

const KEY = randomBytes(32).toString("base64");
const secrets = {
  webhook: "marker-webhook-secret/0001",
  previous: "marker-previous-secret+0002",
  // As hex it has the form of a variable's name.
  hex: `a${randomBytes(24).toString("hex")}`,
  redisPassword: "marker-redis-password@0003",
  wrongPassword: "marker-wrong-password@0004",
  upstashToken: "marker-upstash-token-0005",
  key: KEY,
  keyInUrls: KEY.replaceAll("+", "-").replaceAll("/", "_").replace("=", ""),
};
const BODY = "marker-body-4111";

/** As they are, as a URL has them, or in base64. */
function leaks(said: string, markers: readonly string[]): string[] {
  const forms = (marker: string) => [
    ...new Set([
      marker,
      encodeURIComponent(marker),
      Buffer.from(marker).toString("base64").replace(/.?=*$/, ""),
    ]),
  ];
  return markers.flatMap((marker) => forms(marker).filter((form) => said.includes(form)));
}

/** What this process printed, by console or not. */
let printed: string[] = [];
beforeEach(() => {
  printed = [];
  for (const level of ["log", "info", "warn", "error"] as const) {
    vi.spyOn(console, level).mockImplementation((...args) => void printed.push(JSON.stringify(args)));
  }
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

async function expectNoLeak(said: readonly string[]): Promise<void> {
  const all = said.join("\n");
  expect(leaks(all, Object.values(secrets))).toEqual([]);
  expect(leaks(all, [BODY])).toEqual([]);
}

const signed = (body: string, secret = secrets.webhook) => ({
  method: "POST",
  body,
  headers: {
    "content-type": "application/json",
    "x-signature": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
  },
});

/** What deliveries of all kinds are answered: good, refused, in another form, to the wrong place. */
async function deliverAll(send: (path: string, init: RequestInit) => Promise<Response>): Promise<string[]> {
  const good = signed(`{"type":"fails","card":"${BODY}"}`);
  const requests: [string, RequestInit][] = [
    ["/webhooks", good],
    ["/webhooks", good],
    ["/webhooks", signed(`no JSON ${BODY}`, secrets.previous)],
    ["/webhooks", { ...good, body: `{"changed":"${BODY}"}` }],
    ["/webhooks", { ...good, headers: { "x-signature": BODY, authorization: secrets.webhook } }],
    ["/webhooks", { ...good, headers: { ...good.headers, "content-encoding": "gzip" } }],
    [`/webhooks/${BODY}`, good],
    [`/${BODY}`, { method: "GET" }],
    ["/webhooks", { method: "PUT", body: BODY }],
    ["/readyz", { method: "GET" }],
  ];
  const answers: string[] = [];
  for (const [path, init] of requests) {
    const answer = await send(path, init);
    answers.push(`${answer.status} ${JSON.stringify([...answer.headers])} ${await answer.text()}`);
  }
  return answers;
}

const everything = async (redis: Redis): Promise<string> => {
  const dumps = await Promise.all(
    (await redis.keys("*")).map(async (key) => key + (await redis.dumpBuffer(key))?.toString("latin1")),
  );
  return dumps.join("\n");
};

async function redisWithPassword() {
  const server = await startRedis({
    args: ["--requirepass", secrets.redisPassword, "--rdbcompression", "no"],
  });
  const url = (password: string) =>
    server.url.replace("redis://", `redis://:${encodeURIComponent(password)}@`);
  const redis = new Redis(url(secrets.redisPassword));
  onTestFinished(() => redis.disconnect());
  return { redis, url };
}

test("the processes, in good and in bad times", { timeout: 60_000 }, async () => {
  const { redis, url } = await redisWithPassword();
  const folder = await temporaryFolder("secrets");
  onTestFinished(() => folder.remove());
  const env = {
    REDIS_URL: url(secrets.redisPassword),
    WEBHOOK_SECRET: secrets.webhook,
    WEBHOOK_SECRET_PREVIOUS: secrets.previous,
    ANVIL_ENCRYPTION_KEY: KEY,
    ANVIL_RETRY_SCHEDULE: "20ms",
    ...{ HOST: "127.0.0.1", PORT: "0" },
  };
  // In a folder without a configuration file, so that the variables alone switch encryption on.
  const cwd = folder.path;
  const handlers = join(import.meta.dirname, "../../packages/cli/src/fixtures/handlers/reading.ts");
  const wrong = { ...env, REDIS_URL: url(secrets.wrongPassword) };
  const down = { ...env, REDIS_URL: `redis://:${secrets.wrongPassword.replace("@", "%40")}@127.0.0.1:1` };
  const ingresses = [env, wrong].map((each) => startAnvil(["ingress"], { env: each, cwd }));
  const workers = [startAnvil(["worker", "--handlers", handlers], { env, cwd })];
  const said: string[] = [];
  const urlOf = async (process: AnvilProcess) =>
    (await process.line(/listening on (http:\/\/[\d.:]+)/))[1] as string;

  const statuses: string[] = [];
  for (const ingress of ingresses) {
    const base = await urlOf(ingress);
    const answers = await deliverAll((path, init) => fetch(base + path, init));
    statuses.push(answers.map((answer) => answer.slice(0, 3)).join(" "));
    said.push(...answers);
  }
  const refused = "401 401 415 404 404 405";
  expect(statuses).toEqual([`202 202 202 ${refused} 200`, `503 503 503 ${refused} 503`]);
  const ids = () => redis.zrange("{anvil}:webhooks.dead:failed", 0, "-1");
  await waitUntil(async () => (await ids()).length === 2, {
    what: "both events are dead letters",
    timeoutMs: 20_000,
  });
  const [jobId = "", other = ""] = await ids();

  // Everything that may be wrong with settings, and secrets where they don't belong.
  const config = join(folder.path, "wrong.mjs");
  await writeFile(
    config,
    `export default ${JSON.stringify({
      sources: {
        a: { provider: secrets.webhook, secret: { env: secrets.webhook }, retry: secrets.previous },
        b: { provider: "hmac", secret: { env: secrets.hex }, [secrets.previous]: 1 },
        c: { provider: "stripe", secret: secrets.previous, previousSecret: { secret: secrets.hex } },
        d: { provider: "hmac", secret: { env: "WEBHOOK_SECRET" }, bodyLimit: secrets.webhook },
      },
      encryption: { key: { env: KEY }, previousKeys: [{ env: secrets.keyInUrls }, `${KEY}x`], [KEY]: 1 },
      queue: url(secrets.redisPassword),
      prefix: url(secrets.redisPassword),
    })}`,
  );
  const bad = { ...env, ANVIL_CONFIG: config, WEBHOOK_SECRET: `${secrets.webhook}\n`, ANVIL_DEBUG: "1" };
  const malformed = { ...env, REDIS_URL: `${secrets.redisPassword}:6379`, UPSTASH_REDIS_REST_TOKEN: "" };
  const halfUpstash = { ...env, UPSTASH_REDIS_REST_TOKEN: `${secrets.upstashToken}\n` };
  const runs = await Promise.all([
    anvil(["doctor", "--json"], { env: bad, cwd }),
    anvil(["dead", "show", jobId], {
      env: { ...env, ANVIL_ENCRYPTION_KEY_PREVIOUS: "x", ANVIL_DEBUG: "1" },
      cwd,
    }),
    anvil(["replay", jobId, "--reason", "the bank is back"], { env, cwd }),
  ]);
  // Processes take long to start, and these print the same in this one.
  runs.push(
    await runHere(["doctor"], { env, cwd }),
    await runHere(["ingress"], { env: bad, cwd }),
    await runHere(["ingress"], { env: halfUpstash, cwd }),
    await runHere(["worker", "--handlers", handlers], { env: malformed, cwd }),
    await runHere(["replay", other], { env: { ...down, ANVIL_DEBUG: "1" }, cwd }),
  );
  expect(runs.map(({ code }) => code)).toEqual([1, 0, 0, 0, 1, 1, 1, 1]);
  for (const process of [...ingresses, ...workers]) {
    process.signal("SIGTERM");
    await process.exited;
  }
  said.push(...[...ingresses, ...workers].map((process) => process.stdout() + process.stderr()));
  said.push(...runs.map(({ stdout, stderr }) => stdout + stderr), ...printed);
  // What the search goes through is there.
  for (const told of [
    /"signature refused"/,
    /not stored: answered 503/,
    /failed for good/,
    /The body is no JSON/,
    /WRONGPASS/,
    /"audit":"replay"/,
    /encrypted with key [0-9a-f]{8}/,
    /encryption\.key\.env: the name of a variable/,
    /WEBHOOK_SECRET has white space around it/,
    /UPSTASH_REDIS_REST_URL: starts with https/,
  ]) {
    expect(said.join("\n")).toMatch(told);
  }
  await expectNoLeak([...said, await everything(redis)]);
});

test("the functions, and a server of one's own with the default log", { timeout: 30_000 }, async () => {
  const { redis, url } = await redisWithPassword();
  const front = await startRestFront(url(secrets.redisPassword));
  onTestFinished(() => front.stop());
  const said: string[] = [];

  const tries = [
    { redis: url(secrets.redisPassword) },
    { redis: url(secrets.wrongPassword) },
    { redis: `redis://:${encodeURIComponent(secrets.wrongPassword)}@127.0.0.1:1` },
    { upstash: { url: front.url, token: front.token } },
    { upstash: { url: front.url, token: secrets.upstashToken } },
    { upstash: { url: "http://127.0.0.1:1", token: secrets.upstashToken } },
  ];
  for (const where of tries) {
    const app = createServer({
      ...where,
      sources: {
        default: {
          provider: "hmac",
          secret: [secrets.webhook, secrets.previous],
          onDeadRedelivery: "replay",
        },
      },
      encryption: { key: KEY },
      deadlineMs: 300,
      log: consoleLog,
    });
    said.push(...(await deliverAll(async (path, init) => app.request(path, init))));
    await app.close();
  }

  vi.stubEnv("WEBHOOK_SECRET", secrets.webhook);
  vi.stubEnv("WEBHOOK_SECRET_PREVIOUS", secrets.previous);
  vi.stubEnv("REDIS_URL", url(secrets.wrongPassword));
  const good = signed(`{"card":"${BODY}"}`);
  for (const body of [good.body, `changed ${BODY}`]) {
    const event = functionUrlEvent({ ...good, path: "/webhooks", body, isBase64Encoded: false });
    said.push(
      JSON.stringify(await ingressFunction(event, { getRemainingTimeInMillis: () => 10_000 } as never)),
    );
  }
  const thrown = async (run: Promise<unknown>) =>
    run.then(JSON.stringify, (error: Error) => `${error.message} ${error.stack}`);
  said.push(await thrown(pulseFunction({}, { getRemainingTimeInMillis: () => 5_300 })));
  said.push(await thrown(replayFunction({ jobId: `wh_${"0".repeat(32)}` })));
  vi.stubEnv("REDIS_URL", `${secrets.redisPassword}:6379`);
  said.push(await thrown(replayFunction({ jobId: `wh_${"0".repeat(32)}` })));

  for (const told of [
    /stored/,
    /signature refused/,
    /not stored: answered 503/,
    /WRONGPASS/,
    /no Redis URL/,
  ]) {
    expect([...said, ...printed].join("\n")).toMatch(told);
  }
  expect(leaks([...said, ...printed].join("\n"), [front.token])).toEqual([]);
  await expectNoLeak([...said, ...printed, await everything(redis)]);
});
