import { cpus } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { keepBooks, startRedis, startTcpProxy, temporaryFolder } from "anvil-testkit";
import { Redis } from "ioredis";
import { bundleFleet } from "./bundle.ts";
import { startFleet } from "./fleet.ts";
import { type Stage, startWrecker, type Wrecker } from "./inflict.ts";
import { startPaymentApi } from "./payment-api.ts";
import { fingerprint, planFaults } from "./plan.ts";
import { type ChaosReport, makeReport, type RunSettings } from "./report.ts";
import { sendAll } from "./sender.ts";
import { unsettled } from "./settled.ts";

const PREFIX = "{anvil-chaos}";
const SECRETS = { signed: "made-up-secret-of-the-chaos-run", stripe: "whsec_made_up_for_the_chaos_run" };
/** Short, so that a minute here sees as many retries and expired locks as a day elsewhere. */
const SCHEDULE = [50, 100, 200, 400];
const WORKER = {
  concurrency: 10,
  lockMs: 1_500,
  stallCheckMs: 500,
  sweepMs: 500,
  drainMs: 3_000,
  // Kills come far more often than anywhere else; by the default of 10 some jobs would be dead letters for it.
  maxStalls: 100,
  keepCompleted: { count: 1_000_000, ageMs: 86_400_000 },
};
/** After the last fault and the last answer. */
const SETTLE_LIMIT_MS = 120_000;
/** More faults than this at once, and the sender waits: it would only meet closed doors. */
const MOST_PENDING = 12;

/**
 * The whole chain as real processes on a real Redis with AOF, under load, while its parts are killed; then the
 * books are balanced.
 * @param onProgress told now and then how far it is
 */
export async function runChaos(
  settings: RunSettings,
  onProgress: (text: string) => void = () => {},
): Promise<ChaosReport> {
  const started = performance.now();
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const folder = await temporaryFolder("chaos");
    if (!process.env.KEEP) closing.push(() => folder.remove());
    else console.error(folder.path);
    const bundles = await bundleFleet(folder.path);
    const redis = await startRedis({ appendonly: true, args: ["--save", ""] });
    closing.push(() => redis.stop());
    const admin = new Redis(redis.url, { maxRetriesPerRequest: null, retryStrategy: () => 50 });
    admin.on("error", () => {});
    closing.push(async () => admin.disconnect());
    const lines = { ingress: await startTcpProxy(redis.port), worker: await startTcpProxy(redis.port) };
    closing.push(() => Promise.all([lines.ingress.stop(), lines.worker.stop()]));
    const payments = await startPaymentApi();
    closing.push(() => payments.stop());

    const url = (port: number) => `redis://127.0.0.1:${port}`;
    const common = { PREFIX, PAYMENTS_URL: payments.url };
    const fleet = await startFleet({
      bundles,
      folder: folder.path,
      env: {
        ingress: {
          ...common,
          REDIS_URL: url(lines.ingress.port),
          SECRETS: JSON.stringify(SECRETS),
          OPTIONS: JSON.stringify({ retry: { schedule: SCHEDULE } }),
        },
        worker: { ...common, REDIS_URL: url(lines.worker.port), OPTIONS: JSON.stringify(WORKER) },
        replayer: { ...common, REDIS_URL: url(lines.worker.port) },
      },
    });
    closing.push(() => fleet.stop());

    const faults = planFaults(settings);
    const wrecker = startWrecker({ fleet, redis, admin, lines } satisfies Stage);
    const books = keepBooks();
    const { givenUp } = await sendAll({
      ...settings,
      urls: fleet.ingressUrls,
      secrets: SECRETS,
      books,
      onEvent: faultsInTime(settings, faults, wrecker, onProgress),
    });
    for (const fault of faults.filter(({ after }) => after >= settings.events)) wrecker.inflict(fault);
    onProgress("all sent; waiting for the last faults, and for everything to settle");
    await wrecker.over();
    await settle(admin, onProgress);
    await fleet.stop();

    return makeReport({
      settings,
      machine: {
        schedule: fingerprint(faults),
        node: process.versions.node,
        redis: await serverOf(admin),
        cpus: cpus().length,
        durationS: Math.round((performance.now() - started) / 1_000),
      },
      balance: await books.balance({ redis: admin, prefix: PREFIX, effects: payments.charges() }),
      casualties: wrecker.casualties(),
      givenUp,
      repeatedSteps: payments.repeatedSteps(),
      crashes: fleet.crashes(),
    });
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

/** Begins each fault when its event's turn comes. */
function faultsInTime(
  { events }: RunSettings,
  faults: ReturnType<typeof planFaults>,
  wrecker: Wrecker,
  onProgress: (text: string) => void,
): (n: number) => Promise<void> {
  let next = 0;
  let saidAt = performance.now();
  return async (n) => {
    for (let fault = faults[next]; fault && fault.after <= n; fault = faults[next]) {
      wrecker.inflict(fault);
      next += 1;
    }
    while (wrecker.pending() > MOST_PENDING) await delay(20);
    if (performance.now() - saidAt < 5_000) return;
    saidAt = performance.now();
    onProgress(`${n} of ${events} events, ${wrecker.casualties().kills.total} kills`);
  };
}

async function settle(admin: Redis, onProgress: (text: string) => void): Promise<void> {
  const deadline = performance.now() + SETTLE_LIMIT_MS;
  for (;;) {
    const left = await unsettled(admin, PREFIX);
    if (left === undefined) return;
    if (performance.now() > deadline) return onProgress(`not settled after ${SETTLE_LIMIT_MS} ms: ${left}`);
    await delay(200);
  }
}

async function serverOf(admin: Redis): Promise<string> {
  const info = await admin.info("server");
  const [, version = "of an unknown version"] = /redis_version:(\S+)/.exec(info) ?? [];
  return `Redis ${version}`;
}
