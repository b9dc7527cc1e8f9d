import type { Durability } from "webhook-anvil";
import { queueStats } from "webhook-anvil/queue";
import { resolveDurability } from "webhook-anvil/signatures";
import type { Context } from "../context.ts";
import { configFindings } from "../doctor/config-findings.ts";
import { durabilityFindings } from "../doctor/durability-finding.ts";
import { type Finding, fail } from "../doctor/finding.ts";
import { queueFindings } from "../doctor/queue-findings.ts";
import { type RedisFacts, readRedisFacts } from "../doctor/redis-facts.ts";
import { redisFindings } from "../doctor/redis-findings.ts";
import { explain, redisAdvice } from "../failure.ts";
import { findingLines } from "../output/findings.ts";
import { oneLine } from "../output/plain-text.ts";
import { type RedisSession, withRedis } from "../redis-session.ts";
import { loadConfig } from "../settings/config-file.ts";
import { type Place, type PlaceOptions, placeIn, queuePlace } from "../settings/queue-place.ts";

export type DoctorOptions = PlaceOptions & { readonly json?: boolean };

/** Looks at everything that the chain needs, whatever fails on the way; nothing is changed. */
export async function doctor(context: Context, options: DoctorOptions): Promise<number> {
  const { env, stdout } = context;
  const findings = [
    ...(await aboutRedis(context, options)),
    ...(await configFindings(() => loadConfig(context), env)),
  ];
  const failed = findings.some(({ level }) => level === "fail");
  if (options.json) stdout.json({ ok: !failed, findings });
  else for (const line of findingLines(findings, stdout)) stdout.line(line);
  return failed ? 1 : 0;
}

async function aboutRedis(context: Context, options: PlaceOptions): Promise<Finding[]> {
  const { env } = context;
  // A configuration that can't be loaded is told by its own check; the rest of the examination goes on.
  const place = await queuePlace(options, context).catch(() => placeIn({}, options, context));
  const configured = await loadConfig(context).then(
    ({ config }) => config.durability,
    () => undefined,
  );
  // A wrong one is told by the configuration's own check.
  const durability = resolveDurability(configured, env, []);
  try {
    return await withRedis(env, (redis) => examine(redis, place, durability));
  } catch (error) {
    const { code, message } = error as Error & { code?: unknown };
    if (code === "redis_unavailable")
      return [fail("redis", oneLine(message), capitalised(redisAdvice(message)))];
    const [sentence = ""] = explain(error, env).lines;
    return [fail("redis", sentence.replace(/^anvil: /, ""), "Correct REDIS_URL")];
  }
}

async function examine(redis: RedisSession, place: Place, durability: Durability): Promise<Finding[]> {
  const servers = await redis.run((client) => {
    // Each primary of a cluster has its own settings, and any of them may hold the queue after a failover.
    const nodes = "nodes" in client ? client.nodes("master") : [client];
    return Promise.all(
      nodes.map(async (node): Promise<{ where: string; facts: RedisFacts }> => {
        const { host, port } = "nodes" in node ? { host: "", port: "" } : node.options;
        return {
          where: nodes.length > 1 ? `${host}:${port}` : redis.connection.where,
          facts: await readRedisFacts(node),
        };
      }),
    );
  });
  const counts = await redis.run((client) => queueStats(client, place, Date.now()));
  return [
    ...servers.flatMap(({ where, facts }) =>
      [...redisFindings(facts, where), ...durabilityFindings(facts, durability)].map((finding) =>
        servers.length > 1 ? { ...finding, message: `${where}: ${finding.message}` } : finding,
      ),
    ),
    ...queueFindings(counts, place),
  ];
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
