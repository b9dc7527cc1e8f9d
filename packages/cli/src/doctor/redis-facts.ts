import type { RedisClient } from "webhook-anvil/queue";

/** What a Redis server says of itself. */
export type RedisFacts = {
  /** The quickest of a few round trips, in milliseconds. */
  readonly latencyMs: number;
  /** How far its clock is ahead of this machine's, in milliseconds. */
  readonly clockAheadMs: number;
  /** The fields of INFO; empty where it is denied. */
  readonly info: ReadonlyMap<string, string>;
  /** The settings asked for; empty where CONFIG is denied, as on most hosted servers. */
  readonly settings: ReadonlyMap<string, string>;
};

const SECTIONS = ["server", "memory", "persistence", "replication"];
const SETTINGS = ["maxmemory-policy", "appendfsync", "save"];

/** @throws what Redis answers to PING and TIME, when it isn't an answer: NOAUTH, LOADING, a broken connection */
export async function readRedisFacts(client: RedisClient): Promise<RedisFacts> {
  const latencies: number[] = [];
  for (let round = 0; round < 3; round++) {
    const start = performance.now();
    await client.ping();
    latencies.push(performance.now() - start);
  }
  const sentAt = Date.now();
  const [seconds, microseconds] = (await client.time()) as unknown as [string, string];
  const localAt = (sentAt + Date.now()) / 2;
  const info = new Map<string, string>();
  for (const section of SECTIONS) {
    const text = await unlessDenied(() => client.info(section), "");
    for (const [name, value] of infoFields(text)) info.set(name, value);
  }
  const settings = new Map<string, string>();
  for (const name of SETTINGS) {
    const pair = await unlessDenied(() => client.config("GET", name) as Promise<string[]>, []);
    if (pair[1] !== undefined) settings.set(name, pair[1]);
  }
  return {
    latencyMs: Math.min(...latencies),
    clockAheadMs: Number(seconds) * 1000 + Number(microseconds) / 1000 - localAt,
    info,
    settings,
  };
}

/** A command that this user may not run, or that a hosted Redis doesn't have, is no answer; silence is an error. */
async function unlessDenied<T>(ask: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if ((error as Error).name === "ReplyError") return otherwise;
    throw error;
  }
}

function infoFields(text: string): [string, string][] {
  return text.split(/\r?\n/).flatMap((line): [string, string][] => {
    const at = line.indexOf(":");
    return at > 0 && !line.startsWith("#") ? [[line.slice(0, at), line.slice(at + 1)]] : [];
  });
}
