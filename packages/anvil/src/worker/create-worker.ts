import { Worker as BullWorker, type Job, type JobJson } from "bullmq";
import { AnvilError } from "../contract/errors.ts";
import type { Log } from "../contract/log.ts";
import { DEFAULT_RETRY_SCHEDULE, retryScheduleProblem } from "../contract/retry-schedule.ts";
import { bury } from "../queue/bury.ts";
import { patientClient, type RedisClient } from "../queue/redis-clients.ts";
import { describeAddress, redisAddress } from "../queue/redis-target.ts";
import { readStep, storeStep } from "../queue/steps.ts";
import { retryDelay } from "./failure.ts";
import { type Handler, type HandlerMap, handlerFinder } from "./handlers.ts";
import { jobProcessor } from "./process-job.ts";
import { type RunningJobs, runningJobs } from "./running-jobs.ts";
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

/** For handlers that don't hear the signal, between it and being given up. */
const MAX_GRACE_MS = 1_000;
/** For the last commands to Redis after everything has been given back. */
const FAREWELL_MS = 2_000;

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
    logConnection(client, describeAddress(address), log);
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
    const worker = new EnvelopeWorker(settings.queue, jobProcessor(findHandler, running, stepsOf, log), {
      ...bullOptions(settings),
      connection: client as never,
    });
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
      await within(FAREWELL_MS, Promise.all([stopSweeper(), ...buried]));
      running.close();
      client.disconnect();
      giveUp();
    };
    try {
      await Promise.race([worker.waitUntilReady(), givenUp]);
    } catch (error) {
      if (closing) return;
      // Refused for good, as by an ACL: a process that only waits would look like one that works.
      await stop();
      throw error;
    }
    if (closing) return;
    stopSweeper = startSweeper(client, settings, settings.sweepMs, log);
    worker
      .run()
      .catch((error: Error) => log.error({ reason: error.message }, "the worker stopped by itself"));
    log.info(
      { redis: describeAddress(address), queue: settings.queue, concurrency: settings.concurrency },
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

type Processed = ReturnType<BullWorker["processJob"]>;

/**
 * BullMQ's worker, with two of its assumptions taken out.
 *
 * It parses a job's data before anything of ours sees it, and a job that it can't parse would stall for
 * ever. Here it arrives as null, which is no envelope, so it ends as a dead letter; the stored bytes stay.
 */
class EnvelopeWorker extends BullWorker {
  readonly #underWay = new Map<string, Promise<unknown>>();

  /**
   * A job that lost its lock may come back to this very process while its earlier run still goes on. BullMQ keeps
   * locks by job id, so the end of the earlier run would stop the renewal of the later one's lock, which would then
   * stall too, and so on until it is a dead letter. So the earlier one ends first; its result counts no more.
   */
  override async processJob(job: Job, token: string, fetchNext?: () => boolean): Processed {
    const jobId = job.id as string;
    const earlier = this.#underWay.get(jobId);
    if (earlier) {
      this.emit("lockRenewalFailed", [jobId]);
      await earlier.catch(() => {});
    }
    const run = super.processJob(job, token, fetchNext);
    this.#underWay.set(jobId, run);
    try {
      return await run;
    } finally {
      if (this.#underWay.get(jobId) === run) this.#underWay.delete(jobId);
    }
  }

  protected override createJob(json: JobJson, jobId: string): Job {
    try {
      return super.createJob(json, jobId);
    } catch {
      return super.createJob({ ...json, data: "null" }, jobId);
    }
  }
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

async function drain(worker: BullWorker, running: RunningJobs, drainMs: number, log: Log): Promise<void> {
  const graceMs = Math.min(MAX_GRACE_MS, drainMs / 5);
  const timer = setTimeout(() => running.stop(graceMs), drainMs - graceMs);
  const closed = worker.close().catch((error: Error) => log.warn({ reason: error.message }, "closing"));
  const inTime = await within(drainMs + FAREWELL_MS, closed);
  clearTimeout(timer);
  if (!inTime) log.error({}, "Redis gave no answer while stopping; jobs under way will stall and run again");
}

/** @returns whether `work` settled within `ms` */
async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true as const), late]);
  } finally {
    clearTimeout(timer);
  }
}

function logConnection(client: RedisClient, redis: string, log: Log): void {
  let down = false;
  const warn = repeatsOnce((reason) => log.warn({ redis, reason }, "Redis can't be reached; trying again"));
  client.on("error", (error: Error) => {
    down = true;
    warn(error);
  });
  client.on("ready", () => {
    if (down) log.info({ redis }, "Redis is back");
    down = false;
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
