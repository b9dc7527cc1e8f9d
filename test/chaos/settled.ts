import type { Redis } from "ioredis";

/**
 * What still moves or is still to be done, in words; undefined when nothing is. A dead letter is at its end when no
 * replay can help it: its card was declined.
 */
export async function unsettled(redis: Redis, prefix: string): Promise<string | undefined> {
  const main = (part: string) => `${prefix}:webhooks:${part}`;
  const dead = (part: string) => `${prefix}:webhooks.dead:${part}`;
  const [waiting, active, delayed, failed] = await Promise.all([
    redis.llen(main("wait")),
    redis.llen(main("active")),
    redis.zcard(main("delayed")),
    redis.zcard(main("failed")),
  ]);
  if (waiting + active + delayed + failed > 0) {
    return `${waiting} waiting, ${active} active, ${delayed} delayed, ${failed} failed and not buried`;
  }
  const ids = await redis.zrange(dead("failed"), "0", "-1");
  const pipeline = redis.pipeline();
  for (const id of ids) pipeline.hget(dead(id), "failedReason");
  const reasons = ((await pipeline.exec()) ?? []).map(([, reason]) => String(reason));
  const hopeful = reasons.filter((reason) => !reason.includes("declined")).length;
  return hopeful > 0 ? `${hopeful} dead letters to be replayed` : undefined;
}
