// npm run bench:cold-start
//
// How long a sender waits for a sandbox that isn't there yet: the ingress out of the zip that a deployment makes,
// the same job done with BullMQ's Queue, and a function that does nothing. On Node 24 under AWS's runtime client,
// with all of this machine's CPU; Lambda gives less.

import { createHmac, randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startRedisServer } from "anvil-bootstrap/redis-server";
import { build } from "esbuild";
import { temporaryFolder } from "../../packages/testkit/src/temporary-folder.ts";
import { deployStage } from "../deploy/deployed-stage.ts";
import { lambdaImpossible } from "../deploy/lambda/runtime-client.ts";
import { startLambda } from "../deploy/lambda/start-lambda.ts";
import { madeUpSecrets } from "../deploy/made-up-secrets.ts";
import { installSstPlatform } from "../deploy/sst-platform.ts";

const ROUNDS = 15;
const secret = madeUpSecrets.WebhookSecret ?? "";

interface Contender {
  readonly name: string;
  readonly folder: string;
  readonly environment?: Readonly<Record<string, string>>;
}

const missing = (await installSstPlatform()) ?? (await lambdaImpossible());
if (missing) {
  console.error(missing);
  process.exit(1);
}
const temporary = await temporaryFolder("bench");
const redis = await startRedisServer({ dir: join(temporary.path, "redis") });
const stage = await deployStage({ redis: "url", secrets: madeUpSecrets });
try {
  const ingress = stage.graph.inputs("aws:lambda/function:Function", "IngressFunction");
  const contenders: Contender[] = [
    { name: "nothing", folder: await bundle("empty-function") },
    { name: "ingress", folder: stage.zip("Ingress"), environment: ingress.environment.variables },
    { name: "with BullMQ's Queue", folder: await bundle("ingress-with-queue") },
  ];
  const times = contenders.map(() => ({
    initMs: [] as number[],
    firstMs: [] as number[],
    nextMs: [] as number[],
  }));
  for (let round = 0; round < ROUNDS; round++) {
    // In turns, so that whatever else this machine does meets all of them.
    for (const [at, contender] of contenders.entries()) {
      const { initMs, firstMs, nextMs } = await coldStart(contender);
      times[at]?.initMs.push(initMs);
      times[at]?.firstMs.push(firstMs);
      times[at]?.nextMs.push(nextMs);
    }
  }
  const rows = await Promise.all(
    contenders.map(async ({ name, folder }, at) => {
      const { initMs, firstMs, nextMs } = times[at] ?? { initMs: [], firstMs: [], nextMs: [] };
      const both = initMs.map((ms, round) => ms + (firstMs[round] ?? 0));
      const kilobytes = Math.round((await stat(join(folder, "bundle.mjs"))).size / 1_000);
      return {
        function: name,
        "bundle kB": kilobytes,
        "init ms": median(initMs),
        "first answer ms": median(firstMs),
        "init + first ms": median(both),
        "next answer ms": median(nextMs),
      };
    }),
  );
  console.log(`Medians of ${ROUNDS} cold starts:`);
  console.table(rows);
} finally {
  await stage.discard();
  await redis.stop();
  await temporary.remove();
}

/** As SST bundles a function. */
async function bundle(name: string): Promise<string> {
  const folder = join(temporary.path, name);
  await build({
    entryPoints: [fileURLToPath(new URL(`${name}.ts`, import.meta.url))],
    outfile: join(folder, "bundle.mjs"),
    ...{ bundle: true, minify: true, platform: "node", format: "esm", target: "esnext" },
    conditions: ["anvil-source"],
    banner: {
      js: "import{createRequire as makeRequire}from'node:module';const require=makeRequire(import.meta.url);",
    },
  });
  return folder;
}

async function coldStart({ folder, environment }: Contender) {
  const lambda = await startLambda({
    folder,
    handler: "bundle.handler",
    environment: { ...environment, REDIS_URL: redis.url, WEBHOOK_SECRET: secret },
  });
  try {
    const deliver = async (): Promise<number> => {
      const body = JSON.stringify({ id: randomUUID() });
      const signature = createHmac("sha256", secret).update(body).digest("hex");
      const sentAt = performance.now();
      const { status } = await fetch(`${lambda.url}/webhooks`, {
        method: "POST",
        body,
        headers: { "x-signature": signature, "content-type": "application/json" },
      });
      if (status !== 202) throw new Error(`answered ${status}:\n${lambda.log()}`);
      return performance.now() - sentAt;
    };
    return { initMs: lambda.initMs, firstMs: await deliver(), nextMs: await deliver() };
  } finally {
    await lambda.stop();
  }
}

function median(values: readonly number[]): number {
  return Math.round([...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0);
}
