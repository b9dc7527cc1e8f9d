import { createHash } from "node:crypto";
import { sharedRedisUrl, snapshotKeys, uniquePrefix } from "anvil-testkit";
import { Redis } from "ioredis";
import { expect, onTestFinished } from "vitest";
import { decodeBody, type Envelope, type Log } from "webhook-anvil";
import type { ServerOptions } from "webhook-anvil/ingress";
import { providers, signDelivery } from "webhook-anvil/signatures";
import type { Answer, Delivery, Host, StartHost } from "../ingress/hosts.ts";

export const SECRET = "made-up-secret-of-the-tests";
export const STRIPE_SECRET = "whsec_made_up_for_the_tests";

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export type LogLine = { readonly level: "info" | "warn" | "error"; readonly message: string } & Record<
  string,
  unknown
>;

/** One ingress on one host, in a queue of its own, for one test. */
export type Receiver = {
  readonly prefix: string;
  readonly lines: readonly LogLine[];
  send(delivery: Delivery): Promise<Answer>;
  /** Everything in Redis that is this receiver's. */
  keys(): ReturnType<typeof snapshotKeys>;
  /** Expects a 202, and reads what it names. */
  stored(
    answer: Answer,
  ): Promise<{ readonly jobId: string; readonly envelope: Envelope; readonly bytes: Uint8Array }>;
  /** Expects that status, and not a key more in Redis than before. */
  refuses(delivery: Delivery, status: number): Promise<Answer>;
};

const SOURCES: NonNullable<ServerOptions["sources"]> = {
  default: { provider: "hmac", secret: SECRET },
  stripe: { provider: "stripe", secret: STRIPE_SECRET },
  github: { provider: "github", secret: SECRET },
};

export async function receiver(start: StartHost, options: ServerOptions = {}): Promise<Receiver> {
  const prefix = options.prefix ?? uniquePrefix();
  const lines: LogLine[] = [];
  const url = typeof options.redis === "string" ? options.redis : sharedRedisUrl();
  const host: Host = await start({
    redis: url,
    ...(options.secret === undefined ? { sources: SOURCES } : {}),
    log: recordingLog(lines),
    ...options,
    prefix,
  });
  const redis = new Redis(url, { lazyConnect: true });
  onTestFinished(async () => {
    await host.close();
    redis.disconnect();
  });
  const keys = () => snapshotKeys(url, prefix);
  return {
    prefix,
    lines,
    keys,
    send: (delivery) => host.send(delivery),
    async stored(answer) {
      expect([answer.status, answer.text]).toEqual([202, expect.stringContaining("jobId")]);
      const { jobId } = JSON.parse(answer.text) as { jobId: string };
      const envelope = JSON.parse(
        (await redis.hget(`${prefix}:webhooks:${jobId}`, "data")) as string,
      ) as Envelope;
      return { jobId, envelope, bytes: decodeBody(envelope) };
    },
    async refuses(delivery, status) {
      const before = await keys();
      const answer = await host.send(delivery);
      expect(answer.status).toBe(status);
      expect(await keys()).toEqual(before);
      return answer;
    },
  };
}

export function recordingLog(lines: LogLine[]): Log {
  const at =
    (level: LogLine["level"]) =>
    (fields: Record<string, unknown>, message: string): void => {
      lines.push({ level, message, ...fields });
    };
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

/** A delivery as the provider would send it. */
export function signed(
  name: "hmac" | "stripe" | "github" | "standard-webhooks",
  body: Uint8Array,
  options: {
    readonly secret?: string;
    readonly nowMs?: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly path?: string;
  } = {},
): Delivery & { readonly headers: Record<string, string>; readonly body: Uint8Array } {
  const provider = providers.get(name);
  if (!provider) throw new Error(`no provider ${name}`);
  const secret = options.secret ?? (name === "stripe" ? STRIPE_SECRET : SECRET);
  const headers = signDelivery(provider, body, secret, {
    nowMs: options.nowMs ?? Date.now(),
    headers: options.headers ?? {},
  });
  return { path: options.path ?? (name === "hmac" ? "/webhooks" : `/webhooks/${name}`), headers, body };
}
