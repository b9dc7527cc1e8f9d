import type { EncryptionConfig, Log, RetrySchedule } from "webhook-anvil";
import { env as fromEnvironment } from "webhook-anvil/config";
import { createServer } from "webhook-anvil/ingress";
import { listen } from "webhook-anvil/node";
import { type Connection, createConnection, deadlineIn } from "webhook-anvil/queue";
import { createWorker } from "webhook-anvil/worker";
import type { Environment } from "../context.ts";
import { listenFailure } from "../serving/listen-failure.ts";
import type { Place } from "../settings/queue-place.ts";
import { removeQueue } from "./demo-queue.ts";
import { type Runs, watchRuns } from "./runs.ts";
import { openShop, type Shop } from "./shop.ts";

/** Everything that runs in the demo: a real ingress behind a real HTTP server, and a real worker. */
export type Stage = {
  readonly url: string;
  readonly port: number;
  readonly place: Place;
  readonly secret: string;
  readonly schedule: RetrySchedule;
  readonly shop: Shop;
  readonly runs: Runs;
  readonly connection: Connection;
  /** Lets the running handlers finish, then removes what the demo stored. */
  close(): Promise<void>;
};

export type StageOptions = {
  readonly redis: string;
  readonly prefix: string;
  /** The first to try. */
  readonly port: number;
  readonly secret: string;
  readonly schedule: RetrySchedule;
  readonly log: Log;
  /** Of the configuration file: somebody's own events are encrypted in the demo where they are otherwise. */
  readonly encryption?: EncryptionConfig;
  readonly env: Environment;
};

/** Only for this machine: the secret may be one that everybody can read on the screen. */
const HOST = "127.0.0.1";
const PORTS_TRIED = 20;
const DRAIN_MS = 5_000;
/** For Redis to be there at all. */
const REACHED_MS = 3_000;

export async function openStage(options: StageOptions): Promise<Stage> {
  const { redis, prefix, secret, schedule, log } = options;
  // The port comes first, since it makes the queue: two demos on one Redis have a queue each.
  let app: ReturnType<typeof createServer> | undefined;
  const server = await listenFrom(options.port, {
    fetch: (request) => app?.fetch(request) ?? new Response(null, { status: 503 }),
  });
  const place = { queue: `demo-${server.port}`, prefix, asOptions: "" };
  const connection = createConnection({ redis, name: "anvil-demo", deadlineMs: REACHED_MS, log });
  const shop = openShop();
  const runs = watchRuns(shop.handle);
  const shared = {
    ...{ redis, queue: place.queue, prefix, log },
    ...(options.encryption === undefined ? {} : { encryption: options.encryption }),
    // The schedule and the secret are the demo's own, whatever the environment says; keys may be in it.
    env: {
      ...options.env,
      WEBHOOK_SECRET: secret,
      ANVIL_RETRY_SCHEDULE: undefined,
      ANVIL_DURABILITY: undefined,
    },
  };
  const worker = createWorker(runs.handler, { ...shared, drainMs: DRAIN_MS });

  const close = async () => {
    await server.close(1_000);
    await Promise.all([worker.close(), app?.close()]);
    // Redis may have ended before us; what it held is gone then, or stays until the next demo on this port.
    await removeQueue(connection, place).catch(() => {});
    await connection.close();
  };
  try {
    app = createServer({
      ...shared,
      sources: { default: { provider: "hmac", secret: fromEnvironment("WEBHOOK_SECRET") } },
      retry: { schedule },
    });
    await connection.run(deadlineIn(REACHED_MS), (client) => client.ping());
    await removeQueue(connection, place);
    await worker.start();
  } catch (error) {
    await close();
    throw error;
  }
  return { url: server.url, port: server.port, place, secret, schedule, shop, runs, connection, close };
}

async function listenFrom(first: number, app: Parameters<typeof listen>[0]) {
  for (let port = first; ; port++) {
    try {
      return await listen(app, { host: HOST, port });
    } catch (error) {
      const taken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
      if (!taken || port >= Math.min(first + PORTS_TRIED, 65_535)) {
        throw listenFailure(error as NodeJS.ErrnoException, { host: HOST, port });
      }
    }
  }
}
