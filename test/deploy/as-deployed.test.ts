import { randomUUID } from "node:crypto";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "anvil-bootstrap/command";
import { freePort } from "anvil-bootstrap/free-port";
import {
  type RestFront,
  startRedisTls,
  startRestFront,
  type TemporaryFolder,
  type TestProcess,
  type TestRedisTls,
  temporaryFolder,
  waitUntil,
} from "anvil-testkit";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { anvil } from "../../packages/cli/src/fixtures/anvil-process.ts";
import { type DeployedStage, deployStage, userCode } from "./deployed-stage.ts";
import { containerOf, statementsOf } from "./graph.ts";
import { buildImage, type Image } from "./image/build-image.ts";
import { imagesImpossible } from "./image/buildah.ts";
import { runImage } from "./image/run-image.ts";
import { startInvokeApi } from "./lambda/invoke-api.ts";
import { lambdaImpossible } from "./lambda/runtime-client.ts";
import type { Lambda } from "./lambda/start-lambda.ts";
import { type OtherSide, startOtherSide } from "./other-side.ts";
import { type Delivery, senderSecrets, senders } from "./senders.ts";
import { installSstPlatform } from "./sst-platform.ts";

const openssl = async () =>
  (await runCommand("openssl", ["version"])).code === 0 ? undefined : "openssl is not installed";
const missing =
  (await installSstPlatform()) ??
  (await lambdaImpossible()) ??
  (await imagesImpossible()) ??
  (await openssl());
const because = missing ? ` (skipped: ${missing})` : "";

/** With an image to be built. */
const SETUP_MS = 300_000;
const TEST_MS = 60_000;
/** In the stand-in for the base image, an empty folder otherwise. */
const CERTIFICATES = "/etc/ssl/certs";

/**
 * The whole chain out of what a deployment makes: the functions' zips under AWS's runtime client, behind a function
 * URL; the worker's image with the environment of its task; a Redis that speaks TLS. Signed by the senders' SDKs.
 */
describe.each(["url", "upstash"] as const)("with redis %s", (redisSetting) => {
  describe.skipIf(missing)(`as deployed${because}`, { timeout: TEST_MS }, () => {
    let redis: TestRedisTls;
    let client: Redis;
    let front: RestFront | undefined;
    let certificates: TemporaryFolder;
    let otherSide: OtherSide;
    let stage: DeployedStage;
    let worker: Image;
    let functions: Record<"Ingress" | "Replay" | "Pulse", Lambda>;
    const running: TestProcess[] = [];

    beforeAll(async () => {
      redis = await startRedisTls();
      client = new Redis(redis.url, { tls: { ca: redis.ca } });
      certificates = await temporaryFolder("certificates");
      // The container's user has to read it.
      await chmod(certificates.path, 0o755);
      await writeFile(join(certificates.path, "ca.crt"), redis.ca);
      otherSide = await startOtherSide();
      if (redisSetting === "upstash") front = await startRestFront(redis.plainUrl);
      stage = await deployStage({
        redis: redisSetting,
        withUserCode: true,
        secrets: {
          ...senderSecrets,
          RedisUrl: redis.url,
          ...(front
            ? {
                UpstashRedisRestUrl: "https://made-up-host.example.com",
                UpstashRedisRestToken: front.token,
              }
            : {}),
        },
      });
      worker = await buildImage({ target: "worker", replacedBy: userCode });
      const environment = {
        NODE_EXTRA_CA_CERTS: join(certificates.path, "ca.crt"),
        // The one thing that differs from what is deployed: the local front speaks no TLS.
        ...(front ? { UPSTASH_REDIS_REST_URL: front.url } : {}),
      };
      functions = {
        Ingress: await stage.start("Ingress", { environment }),
        Replay: await stage.start("Replay", { environment }),
        Pulse: await stage.start("Pulse", { environment }),
      };
    }, SETUP_MS);

    afterAll(async () => {
      await Promise.all(Object.values(functions ?? {}).map((lambda) => lambda.stop()));
      client?.disconnect();
      await front?.stop();
      await otherSide?.stop();
      await redis?.stop();
      await certificates?.remove();
      await stage?.discard();
    });

    beforeEach(async () => {
      await client.flushall();
      otherSide.answers({});
    });
    afterEach(async () => {
      await Promise.all(running.splice(0).map((container) => container.kill("SIGKILL")));
    });

    async function startWorker(): Promise<{ container: TestProcess; port: string }> {
      const port = String(await freePort());
      const container = await runImage(worker, {
        env: {
          ...stage.workerEnvironment(),
          HEALTH_PORT: port,
          NODE_EXTRA_CA_CERTS: `${CERTIFICATES}/ca.crt`,
        },
        volume: { from: certificates.path, to: CERTIFICATES },
      });
      running.push(container);
      await container.waitForLine(/"message":"working"/);
      return { container, port };
    }

    const event = () =>
      JSON.stringify({
        id: `evt_${randomUUID()}`,
        type: "order.paid",
        passOnTo: otherSide.url,
        note: "“ö” \u2028",
      });

    async function send({ path, headers, body }: Delivery) {
      const answer = await fetch(functions.Ingress.url + path, {
        method: "POST",
        body,
        headers: { "content-type": "application/json", ...headers },
      });
      return { status: answer.status, ...((await answer.json()) as { jobId: string; replayed: boolean }) };
    }

    const passedOn = (jobId: string) => otherSide.received.filter((call) => call.jobId === jobId);
    const isDead = async (jobId: string) =>
      (await client.zscore("{anvil}:webhooks.dead:failed", jobId)) !== null;
    const isDone = async (jobId: string) =>
      (await client.zscore("{anvil}:webhooks:completed", jobId)) !== null;

    /** @returns its id */
    async function deadLetter(): Promise<string> {
      otherSide.answers({ status: 422 });
      const { jobId } = await send(await senders.stripe(event()));
      await waitUntil(() => isDead(jobId), { what: "it is a dead letter" });
      otherSide.answers({});
      return jobId;
    }

    it("takes what the senders' SDKs sign, each event once, and the worker handles it, byte for byte", async () => {
      const { container, port } = await startWorker();
      const check = containerOf(stage.graph).healthCheck.command as string[];
      const checked = await runImage(worker, { command: check.slice(1), env: { HEALTH_PORT: port } });
      expect((await checked.exited).code).toBe(0);

      for (const [source, sign] of Object.entries(senders)) {
        const delivery = await sign(event());
        const answer = await send(delivery);
        expect(answer).toMatchObject({ status: 202, replayed: false });
        await waitUntil(() => isDone(answer.jobId), { what: "it is done" });
        expect(await send(delivery)).toMatchObject({ status: 202, jobId: answer.jobId, replayed: true });
        expect(passedOn(answer.jobId)).toMatchObject([{ source, attempt: 1, body: delivery.body }]);
      }
      // Stripe signs the time, so each of its deliveries of an event has another signature.
      const body = event();
      const { jobId } = await send(await senders.stripe(body));
      const aMinuteAgo = Math.floor(Date.now() / 1_000) - 60;
      expect(await send(await senders.stripe(body, aMinuteAgo))).toMatchObject({ jobId, replayed: true });

      const forged = { ...(await senders.github(event())), body: event() };
      expect((await send(forged)).status).toBe(401);
      expect(await container.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    });

    it("encrypts what lies in Redis, with a key that the worker has from a parameter of its own", async () => {
      const [parameter, redisUrl, ...more] = stage.graph.all("aws:ssm/parameter:Parameter");
      expect([redisUrl?.name, more]).toEqual(["RedisUrlParameter", []]);
      expect(parameter?.inputs).toMatchObject({
        name: "/anvil/local/anvil-encryption-key",
        type: "SecureString",
        value: senderSecrets.AnvilEncryptionKey,
      });
      const { environment, secrets } = containerOf(stage.graph);
      expect(secrets.map(({ name }: { name: string }) => name)).toEqual([
        "REDIS_URL",
        "ANVIL_ENCRYPTION_KEY",
      ]);
      expect(environment).toContainEqual({ name: "ANVIL_ENCRYPTION_KEY_VERSION", value: "1" });
      const role = stage.graph.inputs("aws:iam/role:Role", "WorkerExecutionRole");
      expect(statementsOf(role)[0]?.Resource).toEqual([
        expect.stringMatching(/:parameter\/anvil\/local\/redis-url$/),
        expect.stringMatching(/:parameter\/anvil\/local\/anvil-encryption-key$/),
      ]);

      const { jobId } = await send(await senders.stripe(event()));
      const data = (await client.hget(`{anvil}:webhooks:${jobId}`, "data")) as string;
      expect(JSON.parse(data)).toMatchObject({ type: "order.paid", encoding: "aes-256-gcm" });
      expect(data).not.toContain("passOnTo");
    });

    it("buries what fails for good, and the replay function brings it back", async () => {
      const { container } = await startWorker();
      const jobId = await deadLetter();
      expect(passedOn(jobId)).toMatchObject([{ attempt: 1 }]);

      expect(await functions.Replay.invoke({ jobId })).toEqual({ replayed: true, jobId });
      await waitUntil(() => isDone(jobId), { what: "it is done" });
      const [first, second, ...more] = passedOn(jobId);
      expect(more).toEqual([]);
      expect(second).toMatchObject({
        attempt: 1,
        body: first?.body,
        idempotencyKey: first?.idempotencyKey,
        outcome: "answered",
      });
      expect(await functions.Replay.invoke({ jobId })).toEqual({ replayed: false, jobId, reason: "done" });
      await expect(functions.Replay.invoke({ jobIds: [] })).rejects.toThrow(/Invoke with/);
      expect(await container.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    });

    it("publishes the queue's depth and age as CloudWatch reads it, every time that pulse is invoked", async () => {
      const { container } = await startWorker();
      await deadLetter();
      await container.kill("SIGTERM");
      await send(await senders.partner(event()));
      await functions.Pulse.invoke({});
      const printed = await waitUntil(
        () =>
          functions.Pulse.log()
            .split("\n")
            .findLast((line) => line.startsWith('{"_aws"')),
        { what: "pulse has printed metrics" },
      );
      expect(JSON.parse(printed)).toMatchObject({
        _aws: { CloudWatchMetrics: [{ Namespace: "Anvil", Dimensions: [["Stage", "Queue"]] }] },
        ...{ Stage: "local", Queue: "webhooks", Waiting: 1, Active: 0, Dead: 1, Unburied: 0 },
        OldestWaitingSeconds: expect.any(Number),
      });
    });

    it("has the deployed function replay for `anvil replay --function`", async () => {
      const { container } = await startWorker();
      const jobId = await deadLetter();
      const name = String(stage.graph.outputs.replay);
      const api = await startInvokeApi({ [name]: functions.Replay });
      const env = {
        AWS_ENDPOINT_URL: api.url,
        AWS_REGION: "us-east-1",
        AWS_ACCESS_KEY_ID: "made-up",
        AWS_SECRET_ACCESS_KEY: "made-up",
      };
      try {
        const replayed = await anvil(["replay", jobId, "--function", name, "--json"], { env });
        expect(replayed).toMatchObject({ code: 0, stderr: "" });
        expect(JSON.parse(replayed.stdout)).toEqual({ replayed: true, jobId });
        await waitUntil(() => isDone(jobId), { what: "it is done" });
        const another = await anvil(["replay", jobId, "--function", "another-name"], { env });
        expect(another).toMatchObject({ code: 1, stderr: expect.stringContaining("Function not found") });
      } finally {
        await api.stop();
      }
      await container.kill("SIGTERM");
    });

    it("finishes what runs when a deployment replaces the worker, and the next one takes the rest", async () => {
      const { container } = await startWorker();
      otherSide.answers({ afterMs: 1_500 });
      const { jobId } = await send(await senders.github(event()));
      await waitUntil(() => passedOn(jobId).length === 1, { what: "the handler runs" });
      container.signal("SIGTERM");
      await container.waitForLine(/"message":"stopping/);
      const next = await send(await senders.github(event()));
      expect(await container.exited).toEqual({ code: 0, signal: null });
      expect(await isDone(jobId)).toBe(true);
      expect(passedOn(next.jobId)).toEqual([]);

      otherSide.answers({});
      const replacement = await startWorker();
      await waitUntil(() => isDone(next.jobId), { what: "it is done" });
      expect(await replacement.container.kill("SIGTERM")).toEqual({ code: 0, signal: null });
      expect([passedOn(jobId).length, passedOn(next.jobId).length]).toEqual([1, 1]);
    });
  });
});
