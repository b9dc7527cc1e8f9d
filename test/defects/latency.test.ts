import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  snapshotKeys,
  startRedis,
  startTcpProxy,
  type TestProcess,
  type TestRedis,
  temporaryFolder,
  waitUntil,
  watchProcess,
} from "anvil-testkit";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { silentLog } from "webhook-anvil";
import { createWorker } from "webhook-anvil/worker";
import { functionUrlEvent } from "../ingress/function-url-event.ts";
import { deployedHosts } from "../ingress/hosts.ts";
import { receiver, SECRET, signed, utf8 } from "./receiver.ts";

/** A4 of the known defects, its first: what a cold start and a distant Redis take of the sender's time. */

const root = fileURLToPath(new URL("../../", import.meta.url));
/** As a sender with the tightest budget waits. */
const BUDGET_MS = 3_000;
const ROUND_TRIP_MS = 600;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder("latency");
  // One file each, as they are deployed.
  await build({
    entryPoints: ["functions/server.ts", "test/processes/invoke-ingress.ts"].map((entry) =>
      join(root, entry),
    ),
    outdir: folder.path,
    entryNames: "[name]",
    outExtension: { ".js": ".mjs" },
    ...{ bundle: true, platform: "node", format: "esm", target: "node20", logLevel: "warning" },
    conditions: ["anvil-source"],
    banner: {
      js: "import{createRequire as makeRequire}from'node:module';const require=makeRequire(import.meta.url);",
    },
  });
});
afterAll(() => folder.remove());

/** Without tsx, which takes longer to start than what it would start. */
function run(file: string, env: Record<string, string>): TestProcess {
  const child = spawn(process.execPath, [join(folder.path, file)], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const watched = watchProcess(child, file);
  onTestFinished(async () => {
    await watched.kill("SIGKILL");
  });
  return watched;
}

async function distantRedis() {
  const redis = await startRedis();
  const proxy = await startTcpProxy(redis.port);
  proxy.roundTrip(ROUND_TRIP_MS);
  return { redis, env: { REDIS_URL: `redis://127.0.0.1:${proxy.port}`, WEBHOOK_SECRET: SECRET } };
}

const jobsIn = async (redis: TestRedis): Promise<string[]> =>
  Object.keys(await snapshotKeys(redis.url, "{anvil}")).flatMap(
    (key) => /:(wh_[0-9a-f]{32})$/.exec(key)?.[1] ?? [],
  );

type Answered = { readonly status: number; readonly jobId: string; readonly replayed: boolean };

/** A sandbox that isn't there yet gets an event: how long until its answer, its start included. */
async function invokeCold(env: Record<string, string>, delivery: ReturnType<typeof signed>) {
  const event = functionUrlEvent({
    ...{ method: "POST", path: "/webhooks", isBase64Encoded: true },
    headers: delivery.headers,
    body: Buffer.from(delivery.body).toString("base64"),
  });
  const startedAt = performance.now();
  const sandbox = run("invoke-ingress.mjs", { ...env, EVENTS: JSON.stringify([event]) });
  const [, line = ""] = await sandbox.waitForLine(/^answer (.*)$/);
  const tookMs = performance.now() - startedAt;
  const answer = JSON.parse(line) as APIGatewayProxyStructuredResultV2;
  const answered: Answered = { status: answer.statusCode, ...JSON.parse(answer.body ?? "{}") };
  return { tookMs, answered, output: () => sandbox.stdout() };
}

describe("a cold start, and a Redis 600 ms away", () => {
  it("H-28 a function answers its first event inside 3 s, its start included", async () => {
    const { redis, env } = await distantRedis();
    const { tookMs, answered } = await invokeCold(env, signed("hmac", utf8('{"cold":"function"}')));
    expect(answered).toMatchObject({ status: 202, replayed: false });
    expect(tookMs).toBeGreaterThan(ROUND_TRIP_MS);
    expect(tookMs).toBeLessThan(BUDGET_MS);
    expect(await jobsIn(redis)).toEqual([answered.jobId]);
  });

  it("H-28 two sandboxes that start for one event, since its sender lost patience, make one job", async () => {
    const { redis, env } = await distantRedis();
    const delivery = signed("hmac", utf8('{"cold":"sandboxes"}'));
    const both = await Promise.all([invokeCold(env, delivery), invokeCold(env, delivery)]);
    const answers = both.map(({ answered }) => answered);
    expect(answers.map(({ replayed }) => replayed).sort()).toEqual([false, true]);
    expect(await jobsIn(redis)).toEqual([answers[0]?.jobId]);
    expect(answers[1]?.jobId).toBe(answers[0]?.jobId);
  });

  it("H-28 a process answers its first delivery inside 3 s, and a retry while that is under way is no second event", async () => {
    const { redis, env } = await distantRedis();
    const server = run("server.mjs", { ...env, PORT: "0", HOST: "127.0.0.1" });
    const [, url] = await server.waitForLine(/listening on (http:\/\/[\d.:]+)/);
    const { headers, body } = signed("hmac", utf8('{"cold":"process"}'));
    const deliver = async (): Promise<Answered & { tookMs: number; at: number }> => {
      const sentAt = performance.now();
      const answer = await fetch(`${url}/webhooks`, {
        ...{ method: "POST", headers, body: body as Uint8Array<ArrayBuffer> },
      });
      const answered = { status: answer.status, ...((await answer.json()) as object) } as Answered;
      return { ...answered, tookMs: performance.now() - sentAt, at: performance.now() };
    };
    const first = deliver();
    const retriedAt = await new Promise<number>((resolve) =>
      setTimeout(() => resolve(performance.now()), 100),
    );
    const answers = [await first, await deliver()];
    expect(retriedAt).toBeLessThan(answers[0]?.at ?? 0);
    for (const { status, tookMs } of answers) {
      expect(status).toBe(202);
      expect(tookMs).toBeLessThan(BUDGET_MS);
    }
    expect(await jobsIn(redis)).toEqual([answers[0]?.jobId]);
    expect(answers[1]?.jobId).toBe(answers[0]?.jobId);

    const effects: string[] = [];
    const worker = createWorker((event) => void effects.push(event.id), { redis: redis.url, log: silentLog });
    onTestFinished(() => worker.close());
    await worker.start();
    await waitUntil(() => effects.length > 0, { what: "it is handled" });
    await worker.close();
    expect(effects).toEqual([answers[0]?.jobId]);
  });
});

describe.each(deployedHosts)("%s", (_, start) => {
  it("H-28 logs what a sender says about its retry, and takes no word of it for a duplicate", async () => {
    const ingress = await receiver(start);
    const headers = { "X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout" };
    const delivery = signed("hmac", utf8('{"first":"that arrives"}'), { headers });
    const { jobId } = await ingress.stored(await ingress.send(delivery));
    await ingress.send(delivery);
    const retry = { "x-slack-retry-num": "1", "x-slack-retry-reason": "http_timeout" };
    expect(ingress.lines).toMatchObject([
      { message: "stored", jobId, retry },
      { message: "delivered again", jobId, retry },
    ]);
  });
});

describe("the start of every way to run the ingress", () => {
  const print = /^[0-9a-f]{8}$/;

  it("H-18 names the valid secrets by a fingerprint: functions/server.ts", async () => {
    const redis = await startRedis();
    const server = run("server.mjs", {
      ...{ REDIS_URL: redis.url, PORT: "0", HOST: "127.0.0.1" },
      ...{ WEBHOOK_SECRET: SECRET, WEBHOOK_SECRET_PREVIOUS: "made-up-secret-before" },
    });
    await server.waitForLine(/listening on/);
    const { sources } = JSON.parse(server.stdout().split("\n")[0] as string) as {
      sources: { secrets: string[] }[];
    };
    expect(sources).toEqual([
      {
        source: "default",
        provider: "hmac",
        secrets: [expect.stringMatching(print), expect.stringMatching(print)],
      },
    ]);
    expect(server.stdout() + server.stderr()).not.toContain("made-up-secret");
  });

  it("H-18 names the valid secrets by a fingerprint: the function, once it is composed", async () => {
    const redis = await startRedis();
    const delivery = signed("hmac", utf8("{}"));
    const { output } = await invokeCold({ REDIS_URL: redis.url, WEBHOOK_SECRET: SECRET }, delivery);
    expect(output()).toMatch(/message: 'started',\s+sources: \[/);
    expect(output()).not.toContain(SECRET);
  });

  it("H-18 no version and no alias is deployed, so a function has no configuration but its latest", () => {
    const sources = readdirSync(join(root, "packages/deploy/src"))
      .filter((name) => name.endsWith(".ts") && !name.includes(".test."))
      .map((name) => readFileSync(join(root, "packages/deploy/src", name), "utf8"));
    expect(sources.join("\n")).toMatch(/new sst\.aws\.Function\(/);
    expect(sources.join("\n")).not.toMatch(/\bversioning\b|lambda\.Alias|\bqualifier\b|\bpublish\b/);
  });
});
