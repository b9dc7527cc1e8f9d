import { createHmac } from "node:crypto";
import { Redis } from "ioredis";
import { expect, onTestFinished } from "vitest";
import type { Durability } from "../contract/config.ts";
import type { Log } from "../contract/log.ts";
import { createServer, type Server } from "./create-server.ts";

/** Made up, and the secret of every hmac source in the tests of this folder. */
export const SECRET = "made-up-secret-of-the-tests";

export type Answer = {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: { jobId: string; replayed: boolean; error: { code: string; message: string } };
};

/** Delivers a signed event; the same body is the same event. */
export async function deliver(app: Server, body: string, source = "default"): Promise<Answer> {
  const headers = { "x-signature": createHmac("sha256", SECRET).update(body).digest("hex") };
  const response = await app.request(`/webhooks/${source}`, { method: "POST", body, headers });
  return {
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    body: (await response.json()) as Answer["body"],
  };
}

/** A log whose lines can be looked at. */
export function keptLog(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const keep = (fields: object, message: string) => void lines.push(JSON.stringify({ message, ...fields }));
  return { lines, info: keep, warn: keep, error: keep };
}

const DEADLINE_MS = 1_200;

/** An ingress with a durability of its own, closed when its test ends. */
export function durableIngress(redis: string, durability: Durability, deadlineMs: number = DEADLINE_MS) {
  const log = keptLog();
  const app = createServer({ secret: SECRET, redis, durability, deadlineMs, log });
  onTestFinished(() => app.close());
  return { app, log };
}

/** A delivery to one of these with their own deadline, which must be answered within the deadline whatever happens. */
export async function timely(app: Server, body: string): Promise<Answer> {
  const from = performance.now();
  const answer = await deliver(app, body);
  expect(performance.now() - from).toBeLessThan(DEADLINE_MS + 300);
  return answer;
}

/** A connection for the test itself. */
export function clientOf(url: string): Redis {
  const redis = new Redis(url);
  onTestFinished(() => redis.disconnect());
  return redis;
}

export const readiness = async (app: Server): Promise<number> => (await app.request("/readyz")).status;
