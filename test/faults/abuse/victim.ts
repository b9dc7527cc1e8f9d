import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { snapshotKeys, spawnNode, type TestRedis, waitUntil } from "anvil-testkit";
import { Redis } from "ioredis";
import { expect, onTestFinished } from "vitest";
import { providers, signDelivery } from "webhook-anvil/signatures";

const SECRET = "made-up-secret-of-the-tests";
const MIB = 1024 * 1024;
/** The largest body of the source `large`, and all that bodies may take: one of them, and not a bit more. */
const LARGE = 8 * MIB;
/** How long a body may take. */
export const BODY_TIMEOUT_MS = 2_500;

/** An ingress in a process of its own, to be attacked, with a Redis of its own. */
export type Victim = {
  readonly port: number;
  /**
   * Runs an attack while good deliveries go on, then checks what every attack must leave: each good delivery was
   * answered 202 in time, Redis was written to for those alone, the log has no error and no flood, and the process
   * is as large as before.
   * @param grownMib how far its memory may grow while the attack is on, in MiB
   */
  withstands(attack: () => Promise<void>, grownMib: number): Promise<void>;
  deliver(body: Uint8Array, path?: string): Promise<{ status: number; tookMs: number }>;
  log(): string;
};

export async function startVictim(redis: TestRedis): Promise<Victim> {
  const server = spawnNode({
    entry: "test/processes/listening-ingress.ts",
    env: {
      OPTIONS: JSON.stringify({
        sources: {
          default: { provider: "hmac", secret: SECRET },
          large: { provider: "hmac", secret: SECRET, bodyLimit: LARGE },
        },
        redis: redis.url,
        bodyTimeoutMs: BODY_TIMEOUT_MS,
        bodyBudget: LARGE,
      }),
    },
  });
  onTestFinished(() => server.kill("SIGKILL").then(() => {}));
  const [, port = ""] = await server.waitForLine(/^port (\d+)$/);
  const client = new Redis(redis.url);
  onTestFinished(() => client.disconnect());
  const log = () => server.stdout() + server.stderr();

  async function deliver(body: Uint8Array, path = "/webhooks") {
    const sentAt = performance.now();
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: goodSignature(body),
      body: body as Uint8Array<ArrayBuffer>,
    });
    await answer.arrayBuffer();
    return { status: answer.status, tookMs: performance.now() - sentAt };
  }

  /** Of the whole process, in MiB, after a collection. */
  async function settledMib(): Promise<number> {
    const before = server.stdout().length;
    server.signal("SIGUSR2");
    const [, json = ""] = await waitUntil(() => /^memory (.*)\n/m.exec(server.stdout().slice(before)), {
      what: "the process says what memory it has",
      timeoutMs: 10_000,
    });
    const { heapUsed, external } = JSON.parse(json) as { heapUsed: number; external: number };
    return (heapUsed + external) / MIB;
  }

  /** Scripts run: one for each event that is stored. */
  const writes = async (): Promise<number> =>
    [...(await client.info("commandstats")).matchAll(/cmdstat_(?:eval|evalsha):calls=(\d+)/g)].reduce(
      (sum, [, calls]) => sum + Number(calls),
      0,
    );

  let sent = 0;
  return {
    port: Number(port),
    log,
    deliver,
    async withstands(attack, grownMib) {
      // The first one makes the connection to Redis, compiles code and so on.
      for (let n = 0; n < 20; n++) expect((await deliver(event(sent++))).status).toBe(202);
      const keysBefore = Object.keys(await snapshotKeys(redis.url, "{anvil}")).length;
      const writesBefore = await writes();
      const settledBefore = await settledMib();
      const linesBefore = log().split("\n").length;
      resetPeak(server.pid);
      const rssBefore = status(server.pid, "VmRSS");

      let over = false;
      const attacked = attack().finally(() => {
        over = true;
      });
      const good: { status: number; tookMs: number }[] = [];
      while (!over) {
        good.push(await deliver(event(sent++)));
        await Promise.race([delay(50), attacked]);
      }
      await attacked;

      expect(good.length).toBeGreaterThan(0);
      expect(good.filter(({ status }) => status !== 202)).toEqual([]);
      const times = good.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
      expect(times.at(-1), "the slowest good delivery").toBeLessThan(3_000);
      expect(times[Math.floor(times.length / 2)], "the median good delivery").toBeLessThan(1_000);
      const peak = status(server.pid, "VmHWM") - rssBefore;
      expect(peak, "MiB that the process grew by").toBeLessThan(grownMib);
      await waitUntil(async () => (await settledMib()) < settledBefore + 8, {
        what: `memory is back at ${settledBefore.toFixed(0)} MiB`,
        timeoutMs: 6_000,
        intervalMs: 100,
      });
      const keys = Object.keys(await snapshotKeys(redis.url, "{anvil}")).length;
      // A job and its deduplication key for each good delivery.
      expect(keys - keysBefore).toBe(2 * good.length);
      expect((await writes()) - writesBefore).toBe(good.length);
      const lines = log()
        .split("\n")
        .slice(linesBefore - 1);
      expect(lines.filter((line) => !/^\{"level":"(info|warn)"|^memory |^$/.test(line))).toEqual([]);
      expect(lines.filter((line) => line.includes('"level":"warn"')).length, "lines of log").toBeLessThan(
        130,
      );
      // Nothing of the budget is held any more: a body that needs all of it is taken.
      const whole = new Uint8Array(LARGE).fill(sent++ % 256);
      expect((await deliver(whole, "/webhooks/large")).status).toBe(202);
    },
  };
}

const event = (n: number): Uint8Array => new TextEncoder().encode(`{"good":${n}}`);

function goodSignature(body: Uint8Array): Record<string, string> {
  const hmac = providers.get("hmac");
  if (!hmac) throw new Error("no provider hmac");
  return signDelivery(hmac, body, SECRET, { nowMs: Date.now() });
}

/** In MiB, of Linux's account of a process. */
function status(pid: number, field: "VmRSS" | "VmHWM"): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(text)?.[1]) / 1024;
}

function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}
