import type { Job } from "bullmq";
import { AnvilError } from "../contract/errors.ts";
import type { Log } from "../contract/log.ts";
import { DEFAULT_RETRY_SCHEDULE, retryScheduleProblem } from "../contract/retry-schedule.ts";
import { bury } from "../queue/bury.ts";
import { connectionTrouble } from "../queue/connection-trouble.ts";
import { assertScripts, evictionWarnings } from "../queue/fitness.ts";
import { patientClient, type RedisClient } from "../queue/redis-clients.ts";
import { describeAddress, type RedisAddress, redisAddress } from "../queue/redis-target.ts";
import { readStep, storeStep } from "../queue/steps.ts";
import { drain, FAREWELL_MS, settledWithin } from "./drain.ts";
import { EnvelopeWorker } from "./envelope-worker.ts";
import { retryDelay } from "./failure.ts";
import { type Handler, type HandlerMap, handlerFinder } from "./handlers.ts";
import { jobProcessor } from "./process-job.ts";
import { runningJobs } from "./running-jobs.ts";
import type { StepStore } from "./steps.ts";
import { startSweeper } from "./sweeper.ts";
import { type ResolvedWorkerOptions, resolveWorkerOptions, type WorkerOptions } from "./worker-options.ts";

export type Worker = {
  /**
   * Connects and takes jobs. Resolves once it does; as long as Redis can't be reached it keeps trying.
   * @throws what Redis refuses it with; {AnvilError} `closed` after `close()`
   */
  start(): Promise<void>;
  /**
   * Takes no more jobs, lets the running ones finish for up to `drainMs`, gives the rest back, disconnects.
   * Calling it again waits for the same end.
   */
  close(): Promise<void>;
};

/**
 * Runs handlers on the events in the queue: retries by the schedule that each job carries, buries what fails
 * for good, gives back what it can't finish. Opens nothing before `start()`.
 * @throws {ConfigError} at once, naming everything that is wrong
 */
export function createWorker(handler: Handler | HandlerMap, options: WorkerOptions = {}): Worker {
  const findHandler = handlerFinder(handler);
  const settings = resolveWorkerOptions(options);
  const address = redisAddress(settings.redis);
  const { log } = settings;
  let stop: (() => Promise<void>) | undefined;
  let starting: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  async function start(): Promise<void> {
    if (closing) throw new AnvilError("closed", "This worker was closed; create another one");
    const client = patientClient(address, "anvil-worker");
    logConnection(client, address, log);
    const running = runningJobs(settings.lockMs, (jobId) =>
      log.error(
        { jobId, lockMs: settings.lockMs },
        "lost the lock of a running job; another worker runs it too",
      ),
    );
    const stepsOf = (jobId: string, token: string): StepStore => ({
      read: (name) => readStep(client, settings, jobId, name),
      store: (name, result) => storeStep(client, settings, jobId, token, { name, result }),
    });
    const buried = new Set<Promise<void>>();
    const worker = new EnvelopeWorker(
      settings.queue,
      jobProcessor(findHandler, running, stepsOf, log, settings.cipher),
      {
        ...bullOptions(settings),
        connection: client as never,
      },
    );
    worker.on(
      "error",
      repeatsOnce((reason) => log.warn({ reason }, "worker error")),
    );
    worker.on("lockRenewalFailed", (jobIds: string[]) => running.lost(jobIds));
    worker.on("locksRenewed", ({ jobIds }: { jobIds: string[] }) => running.renewed(jobIds));
    worker.on("completed", (job) => log.info({ jobId: job.id, job: job.name }, "handled"));
    worker.on("failed", (job, error) => {
      if (job) buryIfFinal(client, settings, job, error, buried);
    });

    let stopSweeper = async () => {};
    // A client that is disconnected before it was ever ready settles nothing that waits for it.
    let giveUp = () => {};
    const givenUp = new Promise<void>((resolve) => {
      giveUp = resolve;
    });
    stop = async () => {
      await drain(worker, running, settings.drainMs, log);
      await settledWithin(FAREWELL_MS, Promise.all([stopSweeper(), ...buried]));
      running.close();
      client.disconnect();
      giveUp();
    };
    try {
      await Promise.race([worker.waitUntilReady().then(() => assertScripts(client)), givenUp]);
    } catch (error) {
      if (closing) return;
      // Refused for good, as by an ACL: a process that only waits would look like one that works.
      await stop();
      throw error;
    }
    if (closing) return;
    void evictionWarnings(client)
      .then((warnings) => {
        for (const warning of warnings) log.warn({ redis: describeAddress(address) }, warning);
      })
      .catch(() => {});
    stopSweeper = startSweeper(client, settings, settings.sweepMs, log);
    worker
      .run()
      .catch((error: Error) => log.error({ reason: error.message }, "the worker stopped by itself"));
    log.info(
      {
        redis: describeAddress(address),
        queue: settings.queue,
        concurrency: settings.concurrency,
        ...(settings.cipher ? { keyIds: settings.cipher.keyIds } : {}),
      },
      "working",
    );
  }

  return {
    start() {
      starting ??= start();
      return starting;
    },
    close() {
      closing ??= (async () => {
        await stop?.();
        await starting?.catch(() => {});
      })();
      return closing;
    },
  };
}

function bullOptions(settings: ResolvedWorkerOptions) {
  return {
    prefix: settings.prefix,
    autorun: false,
    concurrency: settings.concurrency,
    lockDuration: settings.lockMs,
    stalledInterval: settings.stallCheckMs,
    maxStalledCount: settings.maxStalls,
    // Never removeOnFail: a job removed before it was buried would be lost.
    removeOnComplete: {
      count: settings.keepCompleted.count,
      age: Math.ceil(settings.keepCompleted.ageMs / 1000),
    },
    // After an error from Redis; BullMQ's own 15 s would leave a worker idle long after Redis is back.
    runRetryDelay: 1_000,
    settings: {
      backoffStrategy: (
        failures: number,
        _type?: string,
        error?: Error,
        job?: { opts: { backoff?: unknown } },
      ) => {
        const delays = (job?.opts.backoff as { delays?: unknown } | undefined)?.delays;
        const schedule = retryScheduleProblem(delays) ? DEFAULT_RETRY_SCHEDULE : (delays as number[]);
        return retryDelay(failures, error, schedule);
      },
    },
  };
}

/** `finishedOn` tells a job that failed for good; counting attempts would miss stalls and Unrecoverable. */
function buryIfFinal(
  client: RedisClient,
  { queue, prefix, log }: ResolvedWorkerOptions,
  job: Job,
  error: Error,
  pending: Set<Promise<void>>,
): void {
  const about = { jobId: job.id, job: job.name, attempt: job.attemptsMade, error: error.message };
  if (!job.finishedOn) {
    log.warn({ ...about, retryInMs: job.delay }, "failed; will be retried");
    return;
  }
  log.error(about, "failed for good: dead letter");
  const burying = bury(client, { queue, prefix }, job.id as string)
    .then(() => {})
    .catch((reason: Error) =>
      log.warn({ jobId: job.id, reason: reason.message }, "not buried yet; a sweep will"),
    );
  pending.add(burying);
  void burying.finally(() => pending.delete(burying));
}

function logConnection(client: RedisClient, address: RedisAddress, log: Log): void {
  const redis = describeAddress(address);
  let down = false;
  let worked = false;
  const warn = repeatsOnce((reason) => log.warn({ redis, reason }, "Redis can't be reached; trying again"));
  client.on("error", (error: Error) => {
    down = true;
    warn(new Error(connectionTrouble(error, { secure: address.auth.tls !== undefined, worked })));
  });
  client.on("ready", () => {
    if (down) log.info({ redis }, "Redis is back");
    down = false;
    worked = true;
  });
}

/** The same error again and again, many times a second, is one line every half minute. */
function repeatsOnce(say: (reason: string) => void): (error: Error) => void {
  let last = { message: "", at: 0 };
  return (error) => {
    if (error.message === last.message && Date.now() - last.at < 30_000) return;
    last = { message: error.message, at: Date.now() };
    say(error.message);
  };
}
