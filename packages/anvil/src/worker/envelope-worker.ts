import { Worker as BullWorker, type Job, type JobJson } from "bullmq";

type Processed = ReturnType<BullWorker["processJob"]>;

/**
 * BullMQ's worker, with two of its assumptions taken out.
 *
 * It parses a job's data before anything of ours sees it, and a job that it can't parse would stall for
 * ever. Here it arrives as null, which is no envelope, so it ends as a dead letter; the stored bytes stay.
 */
export class EnvelopeWorker extends BullWorker {
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
