import { createHash } from "node:crypto";
import type { Redis } from "ioredis";

/** A delivery on its way: which event it carries, its bytes, and whether it is signed with the real secret. */
export interface Sent {
  /** The same for every delivery of one event. */
  readonly event: string;
  readonly body: Uint8Array;
  readonly genuine: boolean;
}

/** What the sender heard; `nothing` when the connection broke or it gave up waiting. */
export type Heard =
  | "nothing"
  | {
      readonly status: number;
      readonly jobId?: string;
      readonly replayed?: boolean;
      readonly tookMs: number;
    };

/** Where to look when things have settled. */
export interface Ledger {
  readonly redis: Pick<Redis, "pipeline" | "zrange" | "lrange" | "scanStream">;
  readonly prefix: string;
  /** Default: `webhooks`. */
  readonly queue?: string;
  /**
   * Side effects that took place, kept outside Redis, by event. Given: one for each event that is done, none for
   * any that isn't accepted, never two.
   */
  readonly effects?: ReadonlyMap<string, number>;
  /** The signed bytes in a job's envelope. Default: its body, as utf8 or base64 says. */
  readonly bytesOf?: (envelope: { body: string; encoding: string }) => Uint8Array;
}

export interface Balance {
  /** Events with an answer below 300. */
  readonly accepted: number;
  /** Answers that named the job of an earlier delivery. */
  readonly duplicates: number;
  /** Of the accepted events. */
  readonly done: number;
  readonly waiting: number;
  readonly dead: number;
  /** Accepted, and neither done nor waiting nor dead; or done without its effect. */
  readonly lost: readonly string[];
  /** Two jobs for one event, one job in two places, or an effect twice. */
  readonly doubled: readonly string[];
  /** Stored bytes that aren't the sender's. */
  readonly altered: readonly string[];
  /** Stored or accepted, and never sent with a real signature. */
  readonly forged: readonly string[];
  /** The slowest answer of all, whatever its status, in milliseconds. */
  readonly slowestMs: number;
  /** Which it was, for whoever has to find out why. */
  readonly slowest: string;
}

export interface Accountant {
  /** One delivery and what came of it. Every one, refused and unanswered ones too. */
  record(sent: Sent, heard: Heard): void;
  /** Call it when things have settled: what still moves is counted where it is seen. */
  balance(ledger: Ledger): Promise<Balance>;
}

interface EventRecord {
  readonly event: string;
  readonly digest: string;
  genuine: boolean;
  readonly jobIds: Set<string>;
  accepted: number;
  firsts: number;
}

/**
 * Keeps the books of a fault test: what senders were told on one side, what Redis and the world outside hold on the
 * other. It reads Redis in BullMQ's own keys and never through the code under test.
 */
export function keepBooks(): Accountant {
  const events = new Map<string, EventRecord>();
  let duplicates = 0;
  let slowest = { ms: 0, what: "no answer at all" };

  return {
    record({ event, body, genuine }, heard) {
      const digest = sha256(body);
      const key = `${genuine ? "real" : "forged"} ${event}`;
      const record = events.get(key) ?? {
        event,
        digest,
        genuine,
        jobIds: new Set(),
        accepted: 0,
        firsts: 0,
      };
      if (record.digest !== digest) throw new Error(`two bodies were sent as the event ${event}`);
      events.set(key, record);
      if (heard === "nothing") return;
      if (heard.tookMs > slowest.ms) {
        slowest = { ms: heard.tookMs, what: `${event}: ${heard.status} at ${new Date().toISOString()}` };
      }
      if (heard.status >= 300) return;
      record.accepted += 1;
      if (heard.jobId !== undefined) record.jobIds.add(heard.jobId);
      if (heard.replayed) duplicates += 1;
      else record.firsts += 1;
    },

    async balance(ledger) {
      const jobs = await readJobs(ledger);
      const all = [...events.values()];
      const real = all.filter(({ genuine }) => genuine);
      const accepted = real.filter((record) => record.accepted > 0);
      const findings = { lost: [] as string[], doubled: [] as string[], altered: [] as string[] };
      const count = { done: 0, waiting: 0, dead: 0 };
      for (const record of accepted) {
        const place = checkEvent(record, jobs, ledger.effects, findings);
        if (place) count[place] += 1;
      }
      const byDigest = jobsByDigest(jobs);
      for (const { event, digest, accepted: told } of real) {
        const copies = byDigest.get(digest)?.length ?? 0;
        if (copies > 1) findings.doubled.push(`${event}: ${copies} jobs hold its bytes`);
        if (told === 0 && copies === 0 && (ledger.effects?.get(event) ?? 0) > 0) {
          findings.doubled.push(`${event}: has an effect and no job`);
        }
      }
      return {
        accepted: accepted.length,
        duplicates,
        ...count,
        ...findings,
        forged: forgeries(all, jobs),
        slowestMs: Math.round(slowest.ms),
        slowest: slowest.what,
      };
    },
  };
}

type Place = "done" | "waiting" | "dead";

interface StoredJob {
  /** All of them: more than one is wrong. */
  readonly places: Place[];
  /** Of the bytes in its envelope; undefined when there is no envelope to read. */
  digest?: string | undefined;
}

function checkEvent(
  { event, digest, jobIds, firsts }: EventRecord,
  jobs: ReadonlyMap<string, StoredJob>,
  effects: ReadonlyMap<string, number> | undefined,
  { lost, doubled, altered }: { lost: string[]; doubled: string[]; altered: string[] },
): Place | undefined {
  if (jobIds.size > 1) doubled.push(`${event}: answers named ${[...jobIds].join(" and ")}`);
  if (firsts > 1) doubled.push(`${event}: ${firsts} answers said that it is new`);
  const [jobId = "no id"] = jobIds;
  const effect = effects?.get(event) ?? 0;
  if (effect > 1) doubled.push(`${event} (${jobId}): ${effect} effects`);
  const job = jobs.get(jobId);
  const place = job?.places[0];
  if (!job || place === undefined) {
    lost.push(`${event} (${jobId}): neither done nor waiting nor dead`);
    return undefined;
  }
  if (job.places.length > 1) doubled.push(`${event} (${jobId}): is ${job.places.join(" and ")}`);
  if (job.digest !== digest) altered.push(`${event} (${jobId}): its bytes are not the sender's`);
  if (effects && place === "done" && effect === 0) lost.push(`${event} (${jobId}): done without its effect`);
  return place;
}

function forgeries(all: readonly EventRecord[], jobs: ReadonlyMap<string, StoredJob>): string[] {
  const genuine = new Set(all.filter((record) => record.genuine).map(({ digest }) => digest));
  const accepted = all
    .filter((record) => !record.genuine && record.accepted > 0)
    .map(({ event }) => `${event}: answered below 300 with a false signature`);
  const stored = [...jobs]
    .filter(([, { digest }]) => digest === undefined || !genuine.has(digest))
    .map(([jobId]) => `${jobId}: stored, and nobody sent its bytes with a real signature`);
  return [...accepted, ...stored];
}

function jobsByDigest(jobs: ReadonlyMap<string, StoredJob>): Map<string, string[]> {
  const byDigest = new Map<string, string[]>();
  for (const [jobId, { digest }] of jobs) {
    if (digest === undefined) continue;
    const same = byDigest.get(digest);
    if (same) same.push(jobId);
    else byDigest.set(digest, [jobId]);
  }
  return byDigest;
}

/** Every job that there is, by the sets that name it and by its own hash. */
async function readJobs({ redis, prefix, queue = "webhooks", bytesOf = bodyBytes }: Ledger) {
  const main = (part: string) => `${prefix}:${queue}:${part}`;
  const dead = (part: string) => `${prefix}:${queue}.dead:${part}`;
  const jobs = new Map<string, StoredJob>();
  const found = (id: string, place?: Place) => {
    const job = jobs.get(id) ?? { places: [] };
    if (place) job.places.push(place);
    jobs.set(id, job);
  };
  for (const id of await redis.zrange(main("completed"), "0", "-1")) found(id, "done");
  for (const id of await redis.zrange(dead("failed"), "0", "-1")) found(id, "dead");
  for (const set of ["delayed", "failed", "prioritized"]) {
    for (const id of await redis.zrange(main(set), "0", "-1")) found(id, "waiting");
  }
  for (const list of ["wait", "paused", "active"]) {
    for (const id of await redis.lrange(main(list), 0, -1)) found(id, "waiting");
  }
  // Hashes that no set names: a job that nobody would ever run.
  for await (const keys of redis.scanStream({ match: `${escaped(prefix)}:*:wh_*`, count: 1_000 })) {
    for (const key of keys as string[]) {
      const [, id] = /:(wh_[0-9a-f]{32})$/.exec(key) ?? [];
      if (id !== undefined) found(id);
    }
  }
  const ids = [...jobs.keys()];
  for (let at = 0; at < ids.length; at += 500) {
    const batch = ids.slice(at, at + 500);
    const pipeline = redis.pipeline();
    for (const id of batch) pipeline.hget(main(id), "data").hget(dead(id), "data");
    const replies = (await pipeline.exec()) ?? [];
    for (const [index, id] of batch.entries()) {
      const data = [replies[2 * index]?.[1], replies[2 * index + 1]?.[1]].find((text) => text !== null);
      const job = jobs.get(id);
      if (job && typeof data === "string") job.digest = digestOf(data, bytesOf);
    }
  }
  return jobs;
}

function digestOf(data: string, bytesOf: NonNullable<Ledger["bytesOf"]>): string | undefined {
  try {
    return sha256(bytesOf(JSON.parse(data) as { body: string; encoding: string }));
  } catch {
    return undefined;
  }
}

function bodyBytes({ body, encoding }: { body: string; encoding: string }): Uint8Array {
  return Buffer.from(body, encoding as BufferEncoding);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** A prefix in braces is fine for Redis's patterns; a star or a bracket would not be. */
function escaped(prefix: string): string {
  return prefix.replace(/[[\]*?\\]/g, "\\$&");
}
