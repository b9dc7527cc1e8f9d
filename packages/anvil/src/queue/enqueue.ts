import { Packr } from "msgpackr";
import type { ResolvedLimits } from "../contract/config.ts";
import type { Envelope } from "../contract/envelope.ts";
import { isJobId } from "../contract/job-id.ts";
import { type RetrySchedule, retryScheduleProblem } from "../contract/retry-schedule.ts";
import { addStandardJobLua } from "./bullmq-scripts.ts";
import { limitsCommand, refusedByLimit } from "./limits.ts";
import { limitsLua } from "./limits-lua.ts";
import { type Once, onceLua, refusedByOnce } from "./once.ts";
import { type QueuePlace, queueKeys } from "./queue-place.ts";
import { runScript, type Script, type ScriptCall, type ScriptClient, script } from "./run-script.ts";

/** A job on its way into the queue. */
export type NewJob = {
  /** Ours, made by newJobId. */
  readonly id: string;
  readonly envelope: Envelope;
  /** Travels with the job, so ingress, worker and replay can't disagree. */
  readonly schedule: RetrySchedule;
  /** How long the envelope's key is remembered, in milliseconds. */
  readonly dedupeMs: number;
  /** Of its source; without any BullMQ's script runs as it is. */
  readonly limits?: ResolvedLimits;
  /** For providers that sign something else than the event. */
  readonly once?: Once;
};

export type Enqueued = {
  /** This job's id, or the id under which the event was stored first. */
  readonly jobId: string;
  readonly replayed: boolean;
};

/** The name under which `createWorker` finds its backoff strategy. */
export const BACKOFF_TYPE = "schedule";

// The packing of BullMQ 6.7 (classes/redis-queue-backend.js).
const packer = new Packr({ useRecords: false, encodeUndefinedAsNil: true });
const addScript = script(addStandardJobLua);
const limitedAddScript = script(`${limitsLua}\n${addStandardJobLua}`);
const onceAddScript = script(`${onceLua}\n${addStandardJobLua}`);
const onceLimitedAddScript = script(`${onceLua}\n${limitsLua}\n${addStandardJobLua}`);

function addScriptFor({ limits, once }: NewJob): Script {
  if (once) return limits ? onceLimitedAddScript : onceAddScript;
  return limits ? limitedAddScript : addScript;
}

/**
 * Stores a job unless its event is known: BullMQ's own add script, which sets the deduplication key and adds the
 * job in one step. Running it twice with the same job is harmless: the second run finds the first one's job.
 * @throws {LimitReached} when its source has limits and this new event is over one of them
 * @throws {AnvilError} `token_reused` when another event has come with what its provider signs once
 */
export async function enqueue(client: ScriptClient, place: QueuePlace, job: NewJob): Promise<Enqueued> {
  const { call, read } = addJob(place, job);
  return read(await runScript(client, call.script, call.keys, call.args));
}

/**
 * The call of the script that stores a job, and how its answer reads.
 * @throws {TypeError} for a job that must never reach the script
 */
export function addJob(
  place: QueuePlace,
  job: NewJob,
): { readonly call: ScriptCall; readonly read: (reply: unknown) => Enqueued } {
  const { keys, args } = addJobCommand(place, job);
  return {
    call: { script: addScriptFor(job), keys, args },
    read(jobId) {
      const refused =
        (job.once && refusedByOnce(jobId)) ?? (job.limits && refusedByLimit(jobId, job.envelope.source));
      if (refused) throw refused;
      // An id that isn't ours means "stored before", so nothing else may pass for one: a proxy's or a client's idea
      // of an empty answer would lose the event.
      if (typeof jobId !== "string" || !isJobId(jobId)) throw new Error("the add script returned no job id");
      return { jobId, replayed: jobId !== job.id };
    },
  };
}

/** Keys and arguments of the add script, as `Queue.add` would send them. */
function addJobCommand(place: QueuePlace, job: NewJob): { keys: string[]; args: (string | Buffer)[] } {
  const problem = poisonProblem(job);
  if (problem) throw new TypeError(problem);
  const { main } = queueKeys(place);
  const { envelope } = job;
  const dedupeKey = main(`de:${envelope.key}`);
  const options = {
    attempts: job.schedule.length + 1,
    backoff: { type: BACKOFF_TYPE, delays: job.schedule },
    de: { id: envelope.key, ttl: job.dedupeMs },
    jobId: job.id,
    stackTraceLimit: STACK_TRACES_KEPT,
  };
  const fields = [
    main(""),
    job.id,
    jobName(envelope),
    envelope.receivedAt,
    null,
    null,
    null,
    null,
    dedupeKey,
    null,
  ];
  const keys = ["wait", "paused", "meta", "id", "completed", "delayed", "active", "events", "marker"].map(
    main,
  );
  const args: (string | Buffer)[] = [packer.pack(fields), JSON.stringify(envelope), packer.pack(options)];
  if (job.limits) {
    const limited = limitsCommand(job.limits, envelope.source, job.id, main);
    keys.push(dedupeKey, ...limited.keys);
    args.push(...limited.args.map(String));
  }
  if (job.once) {
    keys.push(main(`once:${job.once.key}`));
    args.push(job.once.holder, String(job.once.forMs));
  }
  return { keys, args };
}

/** The last errors of a job are what a person needs; all of them would make up most of its memory. */
export const STACK_TRACES_KEPT = 3;

/** What dashboards show for a job: `stripe/invoice.paid`, or the source alone. */
export function jobName(envelope: Pick<Envelope, "source" | "type">): string {
  return envelope.type ? `${envelope.source}/${envelope.type.slice(0, 200)}` : envelope.source;
}

/**
 * An option on which the script fails between setting the deduplication key and storing the job would lose
 * the event: every redelivery would count as a duplicate (measured on BullMQ 6.7.0 with NaN and Infinity).
 */
function poisonProblem(job: NewJob): string | undefined {
  if (!Number.isSafeInteger(job.dedupeMs) || job.dedupeMs < 1)
    return "dedupeMs must be a positive whole number";
  if (!Number.isSafeInteger(job.envelope.receivedAt)) return "receivedAt must be a whole number";
  if (!/^[0-9a-f]{64}$/.test(job.envelope.key)) return "the envelope's key must be a sha256 in hex";
  return retryScheduleProblem(job.schedule);
}
