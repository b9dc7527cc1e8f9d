import { createHmac } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "anvil-bootstrap/free-port";
import { startRedis, type TestProcess, type TestRedis, waitUntil } from "anvil-testkit";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildImage, type Image } from "./image/build-image.ts";
import { imagesImpossible } from "./image/buildah.ts";
import { runImage } from "./image/run-image.ts";
import { type OtherSide, startOtherSide } from "./other-side.ts";
import { senderSecrets } from "./senders.ts";

const missing = await imagesImpossible();
const because = missing ? ` (skipped: ${missing})` : "";

/** npm's registry and a stand-in for the base image included, when nothing is kept from an earlier run. */
const BUILD_MS = 300_000;
const SECRET = "made-up-secret-of-the-tests";
const userCode = fileURLToPath(new URL("user-code", import.meta.url));

describe.skipIf(missing)(`the images of workers/Dockerfile${because}`, () => {
  const images: { worker?: Image; ingress?: Image } = {};
  const image = (name: "worker" | "ingress"): Image => images[name] as Image;
  beforeAll(async () => {
    images.worker = await buildImage({ target: "worker" });
    images.ingress = await buildImage({ target: "ingress" });
  }, BUILD_MS);

  describe.each(["worker", "ingress"] as const)("%s", (name) => {
    it("is Node and one bundled file, which root owns", async () => {
      expect(image(name).config).toMatchObject({
        User: "node",
        WorkingDir: "/app",
        Cmd: ["node", `${name}.mjs`],
      });
      const app = join(image(name).folder, "app");
      expect(await readdir(app)).toEqual([`${name}.mjs`]);
      const { uid, mode } = await stat(join(app, `${name}.mjs`));
      expect([uid, mode & 0o022]).toEqual([0, 0]);
      expect(image(name).addedBytes).toBeLessThan(4_000_000);
    });

    it("can write nothing where it runs, as nobody in particular", async () => {
      const shell = await runImage(image(name), {
        command: [
          "sh",
          "-c",
          "id -u; cat /proc/self/status; for at in /app /tmp /home/node; do touch $at/x; done",
        ],
      });
      await shell.exited;
      expect(shell.stdout()).toMatch(/^1000\n/);
      expect(shell.stdout()).toMatch(/^CapEff:\s0+$/m);
      expect(shell.stderr().match(/Read-only file system/g)).toHaveLength(3);
    });

    it("holds no secret: neither in its environment nor in the steps that made it", () => {
      const { config, history } = image(name);
      const variables = config.Env.map((line) => line.split("=")[0]);
      expect(variables).toEqual(["PATH", "NODE_ENV", name === "worker" ? "HEALTH_PORT" : "PORT"]);
      expect([...config.Env, ...history].join("\n")).not.toMatch(/secret|token|password|redis_url|whsec/i);
    });

    it("names what is missing, and exits 1", async () => {
      const started = await runImage(image(name));
      expect((await started.exited).code).toBe(1);
      expect(started.stderr()).toContain("REDIS_URL is not set");
    });
  });
});

describe.skipIf(missing)(`containers${because}`, () => {
  let worker: Image;
  let ingress: Image;
  let redis: TestRedis;
  let client: Redis;
  let otherSide: OtherSide;
  beforeAll(async () => {
    worker = await buildImage({ target: "worker", replacedBy: userCode });
    ingress = await buildImage({ target: "ingress" });
    redis = await startRedis();
    client = new Redis(redis.url);
    otherSide = await startOtherSide();
  }, BUILD_MS);
  afterAll(async () => {
    client?.disconnect();
    await redis?.stop();
    await otherSide?.stop();
  });

  const running: TestProcess[] = [];
  afterEach(async () => {
    otherSide.answers({});
    await Promise.all(running.splice(0).map((container) => container.kill("SIGKILL")));
  });

  async function start(image: Image, env: Record<string, string>): Promise<TestProcess> {
    const container = await runImage(image, { env: { REDIS_URL: redis.url, ...env } });
    running.push(container);
    return container;
  }

  async function startWorker(env: Record<string, string> = {}) {
    const port = String(await freePort());
    const key = { ANVIL_ENCRYPTION_KEY: senderSecrets.AnvilEncryptionKey };
    const container = await start(worker, { HEALTH_PORT: port, ...key, ...env });
    await container.waitForLine(/"message":"working"/);
    return { container, port };
  }

  /** The image's HEALTHCHECK, as Docker runs it: beside the container, with its environment. @returns its exit code */
  async function health(image: Image, env: Record<string, string>): Promise<number | null> {
    const [kind, ...command] = image.config.Healthcheck?.Test ?? [];
    expect(kind).toBe("CMD");
    return (await (await runImage(image, { env, command })).exited).code;
  }

  let ingressUrl: string;
  async function startIngress() {
    const port = String(await freePort());
    const container = await start(ingress, { PORT: port, WEBHOOK_SECRET: SECRET });
    await container.waitForLine(/"message":"listening on/);
    ingressUrl = `http://127.0.0.1:${port}`;
    return { container, port };
  }

  let sent = 0;
  async function deliver(): Promise<{ jobId: string; body: string }> {
    const body = JSON.stringify({ n: sent++, passOnTo: otherSide.url });
    const signature = createHmac("sha256", SECRET).update(body).digest("hex");
    const answer = await fetch(`${ingressUrl}/webhooks`, {
      method: "POST",
      body,
      headers: { "x-signature": `sha256=${signature}` },
    });
    expect(answer.status).toBe(202);
    return { body, jobId: ((await answer.json()) as { jobId: string }).jobId };
  }

  const passedOn = (jobId: string) => otherSide.received.filter((call) => call.jobId === jobId);
  const key = (part: string) => `{anvil}:webhooks:${part}`;

  it("take an event, handle it, and tell whether they live", async () => {
    const [ingressAt, workerAt] = [await startIngress(), await startWorker()];
    const { jobId, body } = await deliver();
    await workerAt.container.waitForLine(new RegExp(`"message":"handled","jobId":"${jobId}"`));
    expect(passedOn(jobId)).toMatchObject([{ body, attempt: 1, outcome: "answered" }]);

    const checks = [
      [worker, workerAt.container, { HEALTH_PORT: workerAt.port }],
      [ingress, ingressAt.container, { PORT: ingressAt.port }],
    ] as const;
    for (const [image, container, env] of checks) {
      expect(await health(image, env)).toBe(0);
      expect(await container.kill("SIGTERM")).toEqual({ code: 0, signal: null });
      expect(await health(image, env)).toBe(1);
    }
  });

  it("H-47 finish what runs when they are told to stop, as process 1, and exit 0", async () => {
    await startIngress();
    otherSide.answers({ afterMs: 1_500 });
    const { container } = await startWorker({ ANVIL_DRAIN: "5s" });
    const { jobId } = await deliver();
    await waitUntil(() => passedOn(jobId).length === 1, { what: "the handler runs" });
    const waiting = await deliverUnhandled(container);

    expect(await container.exited).toEqual({ code: 0, signal: null });
    expect(passedOn(jobId)).toMatchObject([{ outcome: "answered" }]);
    expect(await client.zscore(key("completed"), jobId)).not.toBeNull();
    expect(passedOn(waiting)).toEqual([]);
  });

  /** What arrives after SIGTERM is for another worker. */
  async function deliverUnhandled(container: TestProcess): Promise<string> {
    container.signal("SIGTERM");
    await container.waitForLine(/"message":"stopping/);
    const { jobId } = await deliver();
    return jobId;
  }

  it("H-47 give back what takes longer than the drain limit, at no cost of an attempt, well before they are killed", async () => {
    await startIngress();
    otherSide.answers({ afterMs: 60_000 });
    const { container } = await startWorker({ ANVIL_DRAIN: "1s" });
    const { jobId } = await deliver();
    await waitUntil(() => passedOn(jobId).length === 1, { what: "the handler runs" });

    const started = performance.now();
    expect(await container.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    expect(performance.now() - started).toBeLessThan(4_000);
    expect(await client.lpos(key("wait"), jobId)).not.toBeNull();
    expect(await client.hget(key(jobId), "atm")).toBeNull();

    otherSide.answers({});
    const second = await startWorker();
    await second.container.waitForLine(new RegExp(`"message":"handled","jobId":"${jobId}"`));
    expect(passedOn(jobId)).toMatchObject([
      { attempt: 1, outcome: "given up" },
      { attempt: 1, outcome: "answered" },
    ]);
  });
});
