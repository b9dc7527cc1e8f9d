import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { functionUrlEvent } from "../ingress/function-url-event.ts";
import { alarmsContract } from "./alarms.contract.ts";
import { builtFunction } from "./built-function.ts";
import { configurations, type Deployed } from "./configurations.ts";
import { functionsContract } from "./functions.contract.ts";
import { type Graph, graphOf } from "./graph.ts";
import { madeUpSecrets } from "./made-up-secrets.ts";
import { type OfflineStage, offlineStage } from "./offline-stage.ts";
import { redisContract } from "./redis.contract.ts";
import { secrecyContract } from "./secrecy.contract.ts";
import { installSstPlatform } from "./sst-platform.ts";
import { workerContract } from "./worker.contract.ts";

const missing = await installSstPlatform();
const because = missing ? ` (skipped: ${missing})` : "";

/** One deployment takes some five seconds, and more on a busy machine. */
const DEPLOY_MS = 120_000;

for (const { stage, redis } of configurations) {
  describe.skipIf(missing)(`sst deploy --stage ${stage}, redis ${redis}${because}`, () => {
    const production = stage === "production";
    let offline: OfflineStage | undefined;
    let graph: Graph | undefined;
    beforeAll(async () => {
      offline = await offlineStage({
        stage,
        secrets: madeUpSecrets,
        // The first is the default.
        settings: redis === "elasticache" ? {} : { ANVIL_DEPLOY_REDIS: redis },
      });
      graph = graphOf(await offline.deploy());
    }, DEPLOY_MS);
    afterAll(async () => await offline?.discard());

    const built = (name: string) => builtFunction((offline as OfflineStage).folder, graph as Graph, name);
    const deployed: Deployed = {
      ...{ stage, redis, production },
      graph: () => graph as Graph,
      links: (name) => built(name).links(),
    };
    describe("functions", () => functionsContract(deployed));
    describe("redis", () => redisContract(deployed));
    describe("worker", () => workerContract(deployed));
    describe("alarms", () => alarmsContract(deployed));
    describe("secrecy", () => secrecyContract(deployed));

    it("prints where deliveries go, and what the functions are called", () => {
      expect(graph?.outputs).toMatchObject({
        webhooks: expect.stringMatching(/^https:\/\/[0-9a-f]{32}\.lambda-url\.us-east-1\.on\.aws\/webhooks$/),
        ingress: `anvil-${stage}-ingress`,
        replay: `anvil-${stage}-replay`,
        pulse: `anvil-${stage}-pulse`,
        cluster: expect.stringMatching(`^anvil-${stage}-Cluster`),
        worker: "Worker",
        alarms: expect.stringMatching(/^arn:aws:sns:/),
      });
    });

    it("tags everything with application and stage", () => {
      expect(JSON.parse(graph?.config["aws:defaultTags"] ?? "{}").tags).toMatchObject({
        application: "anvil",
        stage,
      });
    });

    // Takes its time, and what it is about doesn't depend on the stage.
    if (!production) return;

    it("builds an ingress that has its secrets from its links, and asks the Redis that it is linked to", async () => {
      const signed = (secret = "") => {
        const body = '{"n":1}';
        const signature = createHmac("sha256", secret).update(body).digest("hex");
        const headers = { "x-signature": `sha256=${signature}` };
        return functionUrlEvent({ method: "POST", path: "/webhooks", headers, body, isBase64Encoded: false });
      };
      const events = [signed("another-secret"), signed(madeUpSecrets.WebhookSecret)];
      // There is no such Redis: that it was asked is what can be seen from here.
      expect(await built("Ingress").invoke(events)).toMatchObject([{ statusCode: 401 }, { statusCode: 503 }]);
    });

    it("builds functions that find Redis by their link", async () => {
      const unavailable = {
        error: expect.stringMatching(/^Redis at (127\.0\.0\.1:1|master\.\S+:6379) \(TLS\)/),
      };
      expect(await built("Replay").invoke([{ jobId: "wh_01a2335640d374bcb6025cce4477c61c" }])).toEqual([
        unavailable,
      ]);
    });

    it(
      "changes nothing the second time",
      async () => {
        const again = await (offline as OfflineStage).deploy();
        expect(again.changed).toEqual([]);
        expect(again.resources.length).toBe(graph?.resources.length);
      },
      DEPLOY_MS,
    );
  });
}
