import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Redis } from "ioredis";
import { atTestEnd } from "./at-test-end.ts";

/** What the front does with a request instead of answering it. */
export type RestFault =
  /** Takes it and says nothing; the command doesn't run. */
  | { kind: "silence" }
  /** Runs the command, then breaks the connection before the answer. */
  | { kind: "lost reply" }
  /** Runs nothing and answers like this. */
  | { kind: "answer"; status: number; body: string };

export interface RestFront {
  readonly url: string;
  readonly token: string;
  /** Requests so far, whatever became of them. */
  requests(): number;
  /** For the next `times` requests, each in its turn; Infinity until `heal`. */
  fail(fault: RestFault, times: number): void;
  heal(): void;
  /** Nothing listens any more. */
  stop(): Promise<void>;
}

/**
 * Upstash's REST interface in front of a Redis of the test's: one command as a JSON array to `/`, answered by
 * `{"result"}` or `{"error"}`; several to `/multi-exec`, run in MULTI and EXEC and answered by an array of these, or by
 * one error when the transaction was discarded. Strings in base64 where the client asks for it. As documented at
 * https://upstash.com/docs/redis/features/restapi
 */
export async function startRestFront(redisUrl: string): Promise<RestFront> {
  const token = `made-up-${randomBytes(12).toString("hex")}`;
  const redis = new Redis(redisUrl, { connectionName: "anvil-testkit-rest", maxRetriesPerRequest: 0 });
  redis.on("error", () => {});
  const state = { requests: 0, fault: undefined as RestFault | undefined, left: 0 };

  const server = createServer(async (incoming, outgoing) => {
    state.requests += 1;
    const fault = state.left > 0 ? state.fault : undefined;
    if (fault) state.left -= 1;
    const body = await bodyOf(incoming);
    if (fault?.kind === "silence") return;
    if (fault?.kind === "answer") return void outgoing.writeHead(fault.status).end(fault.body);
    if (incoming.headers.authorization !== `Bearer ${token}`) {
      return answer(outgoing, 401, { error: "WRONGPASS invalid or missing auth token" });
    }
    const command = incoming.method === "POST" ? ways[incoming.url ?? ""] : undefined;
    if (!command)
      return answer(outgoing, 404, { error: "ERR this front knows POST to / and /multi-exec only" });
    const outcome = await command(redis, body);
    if (fault?.kind === "lost reply") return void incoming.socket.destroy();
    if ("error" in outcome) return answer(outgoing, 400, outcome);
    const encoded = incoming.headers["upstash-encoding"] === "base64";
    const asAsked = (one: Outcome) => ("result" in one && encoded ? { result: inBase64(one.result) } : one);
    answer(outgoing, 200, Array.isArray(outcome) ? outcome.map(asAsked) : asAsked(outcome as Outcome));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  const front: RestFront = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    requests: () => state.requests,
    fail(fault, times) {
      state.fault = fault;
      state.left = times;
    },
    heal() {
      state.left = 0;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      redis.disconnect();
    },
  };
  atTestEnd(() => front.stop());
  return front;
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

type Outcome = { result: unknown } | { error: string };

/** By the path. */
const ways: Record<string, (redis: Redis, body: string) => Promise<Outcome | Outcome[]>> = {
  "/": run,
  "/multi-exec": runInTransaction,
};

async function runInTransaction(redis: Redis, body: string): Promise<Outcome | Outcome[]> {
  try {
    const transaction = redis.multi();
    for (const [name, ...args] of JSON.parse(body) as [string, ...(string | number)[]][]) {
      transaction.call(name, ...args);
    }
    const replies = (await transaction.exec()) ?? [];
    return replies.map(([error, result]) => (error ? { error: error.message } : { result }));
  } catch (error) {
    return { error: (error as Error).message };
  }
}

async function run(redis: Redis, body: string): Promise<Outcome> {
  try {
    const [name, ...args] = JSON.parse(body) as [string, ...(string | number)[]];
    return { result: await redis.call(name, ...args) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

function inBase64(result: unknown): unknown {
  if (typeof result === "string") return result === "OK" ? result : Buffer.from(result).toString("base64");
  return Array.isArray(result) ? result.map(inBase64) : result;
}

function answer(outgoing: ServerResponse, status: number, body: unknown): void {
  outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
